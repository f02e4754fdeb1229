// A client, in a process of its own, that asks for much and reads nothing: node zero-window-client.ts SOCKET PATH CALLS BODY
//
// It opens CALLS streams with a window of 0, then sends BODY (base64), framed, on each, and stays. It prints "sent" when
// that is done.

import http2 from "node:http2";
import { connect } from "node:net";

const [socket = "", path = "", calls = "1", body = ""] = process.argv.slice(2);
const session = http2.connect("http://localhost", {
  createConnection: () => connect(socket),
  settings: { initialWindowSize: 0 },
  maxSessionMemory: 1000,
});
session.on("error", () => {});
const message = Buffer.from(body, "base64");
const prefix = Buffer.alloc(5);
prefix.writeUInt32BE(message.length, 1);
const frame = Buffer.concat([prefix, message]);
const headers = { ":method": "POST", ":path": path, te: "trailers", "content-type": "application/grpc" };

session.once("remoteSettings", () => {
  const streams = Array.from({ length: Number(calls) }, () => {
    const stream = session.request(headers, { endStream: false });
    stream.on("error", () => {});
    return stream;
  });
  // The server allows fewer streams at once than there may be: the others wait here, with their bodies.
  setTimeout(() => {
    for (const stream of streams) stream.end(frame);
    setTimeout(() => console.log("sent"), 1_000);
  }, 500);
});
