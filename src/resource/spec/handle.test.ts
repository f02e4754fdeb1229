import { describe, expect, test } from "vitest";
import { Handle } from "./handle.ts";
import { createResource, sameResource } from "../resource.ts";
import { samePlain } from "./plain-data.ts";

class Connection {
  readonly address: string;

  constructor(address: string) {
    this.address = address;
  }

  equals(other: unknown): boolean {
    return other instanceof Connection && other.address === this.address;
  }
}

describe("Handle", () => {
  test("shares the object that it wraps", () => {
    const connection = new Connection("a");
    expect(new Handle(connection).target).toBe(connection);
    expect(Object.isFrozen(new Handle(connection))).toBe(true);
    expect(Object.isFrozen(connection)).toBe(false);
  });

  test("is equal by identity, or by the object's own equality", () => {
    const [one, twin, other] = [new Connection("a"), new Connection("a"), new Connection("b")];
    expect(new Handle(one).equals(new Handle(one))).toBe(true);
    expect(new Handle(one).equals(new Handle(twin))).toBe(true);
    expect(new Handle(one).equals(new Handle(other))).toBe(false);
    expect(new Handle(one).equals(twin)).toBe(false);
    const plain = { a: 1 };
    expect(new Handle(plain).equals(new Handle(plain))).toBe(true);
    expect(new Handle(plain).equals(new Handle({ a: 1 }))).toBe(false);
    expect(new Handle({ equals: true }).equals(new Handle({ equals: true }))).toBe(false);
    expect(samePlain({ h: new Handle(one) }, { h: new Handle(twin) })).toBe(true);
  });

  test("makes resources equal or not", () => {
    const at = { namespace: "default", type: "Connections.example.dev", id: "a" };
    const resource = (address: string) => createResource(at, new Handle(new Connection(address)));
    expect(sameResource(resource("a"), resource("a"))).toBe(true);
    expect(sameResource(resource("a"), resource("b"))).toBe(false);
  });

  test("has no JSON form", () => {
    expect(() => JSON.stringify(new Handle({}))).toThrow("has no JSON form");
  });
});
