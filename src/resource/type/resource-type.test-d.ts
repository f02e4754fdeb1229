import { type } from "arktype";
import * as v from "valibot";
import { expectTypeOf } from "vitest";
import { z } from "zod";
import { changeResource } from "../change-resource.ts";
import { createResource, type Resource } from "../resource.ts";
import { defineCapability, capabilityOf } from "./capability.ts";
import { defineResource, type AnyResourceType, type ResourceType, type SpecOf } from "./resource-type.ts";
import { shape } from "../spec/shape.ts";
import type { Ref } from "../pointer.ts";

interface ServiceSpec {
  command: string[];
  restart: "always" | "never";
}
interface ServiceInput {
  command: string[];
  restart?: "always" | "never" | undefined;
}

const ZodService = defineResource({
  type: "Services.example.dev",
  spec: z.object({ command: z.array(z.string()), restart: z.enum(["always", "never"]).default("always") }),
});
const ValibotService = defineResource({
  type: "Services.example.dev",
  spec: v.object({ command: v.array(v.string()), restart: v.optional(v.picklist(["always", "never"]), "always") }),
});
const ArkService = defineResource({
  type: "Services.example.dev",
  spec: type({ command: "string[]", restart: "'always' | 'never' = 'always'" }),
});

// Every library gives the same type of resources, by what goes in and what comes out.
expectTypeOf<SpecOf<typeof ZodService>>().toEqualTypeOf<ServiceSpec>();
expectTypeOf<SpecOf<typeof ValibotService>>().toEqualTypeOf<ServiceSpec>();
expectTypeOf<SpecOf<typeof ArkService>>().toEqualTypeOf<ServiceSpec>();
expectTypeOf(ZodService).toExtend<ResourceType<ServiceSpec, "Services.example.dev", ServiceInput>>();
expectTypeOf(ValibotService).toExtend<ResourceType<ServiceSpec, "Services.example.dev", ServiceInput>>();
expectTypeOf(ArkService).toExtend<AnyResourceType>();
expectTypeOf(ZodService).toExtend<AnyResourceType>();

const web = ZodService.create("web", { command: ["node"] });
expectTypeOf(web).toExtend<Resource<ServiceSpec>>();
expectTypeOf(web.spec.command).toEqualTypeOf<readonly string[]>();
expectTypeOf(web.spec.restart).toEqualTypeOf<"always" | "never">();
expectTypeOf(ZodService.ref("web")).toEqualTypeOf<Ref<ServiceSpec, "Services.example.dev">>();
expectTypeOf(ZodService.type).toEqualTypeOf<"Services.example.dev">();

// @ts-expect-error -- command is missing
ZodService.create("web", {});
// @ts-expect-error -- another value of restart
ValibotService.create("web", { command: [], restart: "sometimes" });
// @ts-expect-error -- metadata that a State sets
ZodService.create("web", { command: [] }, { version: "1" });

// What is read cannot be written.
// @ts-expect-error -- read-only
web.spec.restart = "never";
// @ts-expect-error -- a read-only array has no push
web.spec.command.push("x");
// @ts-expect-error -- read-only
web.metadata.labels["a"] = "b";
// @ts-expect-error -- read-only
web.metadata.finalizers.push("b");

// What is changed is a draft of it.
void changeResource(web, (spec, metadata) => {
  expectTypeOf(spec).toEqualTypeOf<ServiceSpec>();
  spec.command.push("x");
  metadata.labels["a"] = "b";
  // @ts-expect-error -- the address is fixed
  metadata.id = "other";
  // @ts-expect-error -- the State computes the version
  metadata.version = "2";
});
// @ts-expect-error -- not a spec of this type
void changeResource(web, () => ({ command: 1 }));

// Shapes.
const Disk = defineResource({
  type: "Disks.hw.example",
  spec: shape({
    size: "integer",
    "label?": "string",
    parts: [{ name: "string", "offset?": "number" }],
    mode: (value): "fast" | "safe" => (value === "fast" ? "fast" : "safe"),
  }),
});
expectTypeOf<SpecOf<typeof Disk>>().toEqualTypeOf<{
  size: number;
  label?: string | undefined;
  parts: { name: string; offset?: number | undefined }[];
  mode: "fast" | "safe";
}>();
// @ts-expect-error -- no shape
shape({ size: "int" });
expectTypeOf<SpecOf<ResourceType<string>>>().toEqualTypeOf<string>();

// Capabilities.
const Probing = defineCapability<{ probe(): number }>("probing");
const Probed = Disk.providing(Probing, ({ spec }) => ({ probe: () => spec.size }));
expectTypeOf(Probed).toEqualTypeOf<typeof Disk>();
expectTypeOf(capabilityOf(createResource(Disk.ref("a"), {}), Probing)).toEqualTypeOf<{ probe(): number } | undefined>();
// @ts-expect-error -- does not do what the capability stands for
Disk.providing(Probing, () => ({ probe: () => "1" }));
