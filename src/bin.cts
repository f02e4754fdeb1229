#!/usr/bin/env node
// The published command. Every Node since 0.12 can parse it, so that one that is too old for the rest says so in a line.
var needed = [22, 18];
var found = process.versions.node.split(".").map(Number);
var isOld = Number(found[0]) < Number(needed[0]) || (found[0] === needed[0] && Number(found[1]) < Number(needed[1]));
if (isOld) {
  process.stderr.write(
    "homeostat needs Node " + needed.join(".") + " or later; this is " + process.versions.node + "\n",
  );
  process.exitCode = 2;
} else {
  require("./cli.js");
}
