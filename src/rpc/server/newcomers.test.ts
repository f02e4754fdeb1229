import { expect, test } from "vitest";
import type { Peer } from "../peer.ts";
import { Newcomers } from "./newcomers.ts";

const peer = (address: string | undefined): Peer => ({
  kind: address === undefined ? "unix" : "tcp",
  address,
  encrypted: false,
  certificate: undefined,
});

test("each host has a share, whatever its ports; what goes makes room", () => {
  const newcomers = new Newcomers(2);
  const [a, b, c] = [peer("10.0.0.1:1"), peer("10.0.0.1:2"), peer("10.0.0.1:3")];
  expect([a, b, c].map((one) => newcomers.add(one))).toEqual([true, true, false]);
  expect(newcomers.add(peer("[::1]:1"))).toBe(true);
  expect([1, 2, 3].map(() => newcomers.add(peer(undefined)))).toEqual([true, true, false]);
  newcomers.delete(a);
  expect([newcomers.add(c), newcomers.add(a)]).toEqual([true, false]);
});
