import { isSea } from 'node:sea'

/**
 * V8 may use 4 GiB and collects late: these need a fifth less memory under load, and cost reads and changes at 64
 * connections no more CPU (docs/operations.md, Capacity); 4 MB and 50 % took a quarter more. The first is half the
 * default, and the second lets the heap grow by 30 % between collections.
 */
export const heapFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30']

/**
 * Begins this process again with `heapFlags`, because V8 reads the first only at its start. The binary has them
 * from its build. A flag that the environment or the command line sets stays as it is. Does nothing where a
 * process cannot be replaced (Windows), or is the child of another Node, to which it would lose its channel, or is
 * debugged: a debugger would lose its connection.
 */
export function beginWithHeapFlags(): void {
  const { execArgv, execPath, argv, env, platform } = process
  if (isSea() || platform === 'win32' || process.connected) return
  const given = [env.NODE_OPTIONS ?? '', ...execArgv].join(' ').replaceAll('_', '-')
  if (given.includes('--inspect')) return
  const missing = heapFlags.filter((flag) => !given.includes(flag.replace(/=.*/, '=')))
  if (missing.length === 0) return
  process.execve?.(execPath, [execPath, ...missing, ...execArgv, ...argv.slice(1)], env)
}
