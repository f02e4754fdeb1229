/** Sets an own property whatever its name: assigning to `__proto__` would set the prototype instead. */
export function defineOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { enumerable: true, configurable: true, writable: true, value });
}
