// What a running engine shows over HTTP: metrics, health. Start with observe.ts.
export { observe, type Observed, type ObserveOptions, type Observing } from "./observe.ts";
