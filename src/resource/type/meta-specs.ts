/** The spec of a resource that describes a namespace. */
export interface NamespaceSpec {
  description: string;
}

/** A column of the tables in which resources of a type are shown. */
export interface PrintColumn {
  name: string;
  /** Path into the spec, in curly braces: `{.size}`. See `toPrintPath`. */
  jsonPath: string;
}

/** How a type is called and shown. `fillDefinition` makes one. */
export interface ResourceDefinitionSpec {
  /** The full type: `Disks.hw.example`. */
  type: string;
  /** The type in the singular, without its suffix: `Disk`. */
  displayType: string;
  defaultNamespace: string;
  /** Short names, in lower case. */
  aliases: string[];
  /** Everything that the type may be called besides its full name, in lower case. */
  allAliases: string[];
  skipAutomaticAliases?: boolean | undefined;
  printColumns: PrintColumn[];
  /** Absent for types that may be shown freely. */
  sensitivity?: "sensitive" | undefined;
}
