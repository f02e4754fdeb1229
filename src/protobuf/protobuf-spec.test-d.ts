import { expectTypeOf } from "vitest";
import { defineResource, TypeRegistry, type Resource } from "../resource/index.ts";
import { MemoryState } from "../memory/index.ts";
import {
  ResourceDefinitionSpecSchema,
  type ResourceDefinitionSpec_Sensitivity,
} from "../../test/gen/cosi/resource/meta/meta_pb.ts";
import type { ErrorInfoSchema } from "../../test/gen/google/rpc/error_details_pb.ts";
import type { StatusSchema } from "../../test/gen/google/rpc/status_pb.ts";
import { protobufSpec, type MessageSpec } from "./protobuf-spec.ts";

// A type whose spec is a protobuf message is typed by that message, without the parts that are no data.

interface Column {
  name: string;
  jsonPath: string;
}

type Definition = MessageSpec<typeof ResourceDefinitionSpecSchema>;
expectTypeOf<keyof Definition>().toEqualTypeOf<
  "resourceType" | "displayType" | "defaultNamespace" | "aliases" | "allAliases" | "printColumns" | "sensitivity"
>();
expectTypeOf<Definition["printColumns"]>().toEqualTypeOf<Column[]>();
expectTypeOf<Definition["sensitivity"]>().toEqualTypeOf<ResourceDefinitionSpec_Sensitivity>();
expectTypeOf<MessageSpec<typeof ErrorInfoSchema>>().toEqualTypeOf<{
  reason: string;
  domain: string;
  metadata: { [key: string]: string };
}>();
expectTypeOf<MessageSpec<typeof StatusSchema>["details"]>().toEqualTypeOf<{ typeUrl: string; value: Uint8Array }[]>();

const Disk = defineResource({ type: "Disks.hw.example", spec: protobufSpec(ResourceDefinitionSpecSchema) });
expectTypeOf(Disk.create("sda", { aliases: ["d"] }).spec.aliases).toEqualTypeOf<readonly string[]>();
expectTypeOf(Disk.create("sda", {}).spec.sensitivity).toEqualTypeOf<ResourceDefinitionSpec_Sensitivity>();
// @ts-expect-error a field of the wrong type
Disk.create("sda", { aliases: 5 });
// @ts-expect-error no field of the message
Disk.create("sda", { size: 5 });

const state = new MemoryState({ types: [Disk] });
expectTypeOf(state.get(Disk, "sda")).resolves.toExtend<Resource<Definition>>();
void state.modify(Disk, "sda", (draft) => {
  expectTypeOf(draft.printColumns).toEqualTypeOf<Column[] | undefined>();
  draft.printColumns = [...(draft.printColumns ?? []), { name: "Size", jsonPath: "{.size}" }];
});
expectTypeOf(new TypeRegistry([Disk])).toEqualTypeOf<TypeRegistry>();
