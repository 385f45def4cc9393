/** Delays `make` to the first call and keeps its result. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** `onFirstUse` for asynchronous work: an error is thrown to those who wait, and the next call tries again. */
export function untilSuccess<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
