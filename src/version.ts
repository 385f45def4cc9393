/** The version of package.json, which the single binary does not carry (test/cli.test.ts compares). */
export const version = '0.1.0'
