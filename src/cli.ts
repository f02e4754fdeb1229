#!/usr/bin/env node
import { main } from "./cli/index.ts";

// Not awaited, so that the launcher, which has to run on any Node, can load this as a CommonJS module is loaded.
void main();
