/** The seed of a test that draws at random: that of TEST_SEED, or a new one. The test prints it. */
export function chosenSeed(): number {
  return Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
}

/** mulberry32, a random number generator with a seed. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Waits for this number of event loop iterations. */
export async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}
