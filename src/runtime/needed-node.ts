/** The oldest Node that has what the program uses; package.json says the same to npm, which only warns. */
export const neededNode = '24.16'

/** @param version as `process.versions.node` */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = neededNode.split('.').map(Number)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}
