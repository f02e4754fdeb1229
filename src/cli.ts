#!/usr/bin/env node
import { main } from "./cli/index.ts";

await main();
