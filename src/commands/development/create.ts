import { basename, resolve } from 'node:path'
import { isAppName } from '#src/resources/define-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { ask } from '../kit/ask.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print } from '../kit/output.ts'

type Options = { readonly yes?: true; readonly empty?: true; readonly package?: string }

/**
 * `gatehouse create`: writes a new app.
 * @param given its folder, whose last part is the name; asked for without one
 * @throws OperatorError if the name is no name, or the folder has files
 */
export default async function create(given: string | undefined, options: Options): Promise<void> {
  const answer = async (question: string) => (options.yes ? null : ask(question))
  const folder = given ?? (await answer('Folder of the new app:')) ?? ''
  const name = basename(resolve(folder))
  if (folder === '' || !isAppName(name)) {
    throw new OperatorError(
      folder === '' ? 'The new app has no folder.' : `${name} is no name of an app.`,
      'Name a folder of lower-case words with hyphens: gatehouse create acme.',
    )
  }
  const isEmpty =
    options.empty ?? /^n/i.test((await answer('Begin with an example, tasks? [Y/n]')) ?? '')
  const { createApp } = await loadDevelopment()
  const written = await createApp(folder, { name, isEmpty, archive: options.package })
  print(`${written.map((path) => `  ${folder}/${path}`).join('\n')}

  cd ${folder}
  npm install
  npm start   # a demo of the app
  npm test    # its tests`)
}
