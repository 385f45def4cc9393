import { basename, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print } from '../kit/output.ts'

type Options = { readonly yes?: true; readonly empty?: true; readonly package?: string }

/**
 * `gatehouse create`: writes a new app.
 * @param given its folder, whose last part is the name; asked for without one
 * @throws OperatorError if the name is no name, or the folder has files
 */
export default async function create(given: string | undefined, options: Options): Promise<void> {
  const isAsked = options.yes !== true && process.stdin.isTTY
  const folder = given ?? (isAsked ? await ask('Folder of the new app') : '')
  const name = basename(resolve(folder))
  if (folder === '' || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new OperatorError(
      folder === '' ? 'The new app has no folder.' : `${name} is no name of an app.`,
      'Name a folder of lower-case words with hyphens: gatehouse create acme.',
    )
  }
  const isEmpty = options.empty ?? (isAsked && !(await agree('Begin with an example, tasks')))
  const { createApp } = await loadDevelopment()
  const written = await createApp(folder, { name, isEmpty, archive: options.package })
  print(`${written.map((path) => `  ${folder}/${path}`).join('\n')}

  cd ${folder}
  npm install
  npm start   # a demo of the app
  npm test    # its tests`)
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(`${question}: `)).trim()
  } finally {
    lines.close()
  }
}

async function agree(question: string): Promise<boolean> {
  return !/^n/i.test(await ask(`${question}? [Y/n]`))
}
