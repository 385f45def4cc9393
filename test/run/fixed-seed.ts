import fc from 'fast-check'

/* Loaded before a test that is repeated, so that its properties draw from the printed seed as well. */

if (process.env.TEST_SEED !== undefined) fc.configureGlobal({ seed: Number(process.env.TEST_SEED) })
