import type { Repeat } from '#src/runtime/repeat.ts'

/** A `repeat` without a timer: the test makes each call. */
export function repeatWhenAsked(): { repeat: Repeat; again(): Promise<void> } {
  let call = async () => {}
  return {
    again: () => call(),
    repeat(work, { onError = (error) => Promise.reject(error) }) {
      call = async () => {
        await work(new AbortController().signal).catch(onError)
      }
      return { stop: async () => {} }
    },
  }
}
