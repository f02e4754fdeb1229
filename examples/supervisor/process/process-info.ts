/** A process of this machine. */
export interface ProcessInfo {
  readonly pid: number;
  /** Its process group. */
  readonly group: number;
  /** Tells it from a later process with the same pid: pid and birth together never come twice. */
  readonly birth: string;
}
