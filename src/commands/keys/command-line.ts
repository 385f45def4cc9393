import type { Command } from '@commander-js/extra-typings'
import { details, json } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** `keys`. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('Keys in the database: status, rotate')
  keys
    .command('status')
    .description('Show what each key encrypts, and the next step of a rotation')
    .option(...json)
    .addHelpText(
      ...details(
        'a key is missing in some process',
        `Compares the keys of all running processes, and says which step of a rotation
comes next. Identity tokens are signed with keys derived from ENCRYPTION_KEYS:
the first signs, all are published at /.well-known/jwks.json. Session secrets
are shown as fingerprints.
Needs ENCRYPTION_KEYS and DATABASE_WORKER_URL (or DATABASE_URL).
Shows key ids, never keys.`,
      ),
    )
    .action(async (options) => (await import('./keys.ts')).showStatus(readEnvironment(), options))
  keys
    .command('rotate')
    .description('Re-encrypt everything with the first key, and renew the scope key')
    .option(...json)
    .addHelpText(
      ...details(
        'some rows could not be decrypted',
        `To rotate from a to b: restart every process with a,b, then every process with
b,a, run this command, then restart every process with b. keys status says which
step comes next. Works in batches beside running processes, and can be
interrupted and run again. The keys of identity tokens are rotated by the same
steps. Each run also creates a new key for the seal of
database scopes; nothing has to be restarted for it. Needs ENCRYPTION_KEYS and
DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (options) => (await import('./keys.ts')).rotate(readEnvironment(), options))
}
