/** A promise that the test keeps when it wants to. */
export function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((keep) => (resolve = keep))
  return { promise, resolve }
}
