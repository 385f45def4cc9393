import { existsSync } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import {
  type BillingProviderName,
  billingProviders,
  checkKey,
  checkSecret,
  hasCheckout,
  isBillingProvider,
  keyText,
  modeOf,
  readBillingPlans,
  secretText,
} from '#src/config/billing.ts'
import { readConfig } from '#src/config/config.ts'
import {
  findPreset,
  type Preset,
  presets,
  settingsOfPreset,
} from '#src/config/providers/presets.ts'
import { readSecretFiles } from '#src/config/secret-files.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { ownerFileEnding } from '../kit/environment.ts'
import { print, printMessage } from '../kit/output.ts'
import { adviceFor } from './advice.ts'

type Question = {
  text: string | ((answers: Answers) => string)
  /** Used if the answer is empty. */
  fallback?: string
  isSecret?: true
  /** Whether it is asked, after these answers; always without it. */
  applies?(answers: Answers): boolean
  /** @returns what is wrong with the answer; null if nothing is */
  fault(answer: string, answers: Answers): string | null
}

type Name =
  | ('baseUrl' | 'trustProxy' | 'provider' | 'issuer' | 'clientId' | 'clientSecret')
  | ('teamId' | 'keyId' | 'privateKeyFile' | 'ownerUrl' | 'operators')
  | ('billingProvider' | 'billingSecret' | 'billingUrl' | 'billingKey' | 'billingPlans')
/** A question that did not apply has no answer. */
type Answers = Partial<Record<Name, string>>

const presetNames = presets.map(({ name }) => name).join(', ')

/** In the order in which they are asked. */
const questions: Record<Name, Question> = {
  baseUrl: {
    text: 'Public address of the product, such as https://app.example.com',
    fault: (answer) => (isOrigin(answer) ? null : 'It must be an https origin.'),
  },
  trustProxy: {
    text: 'Address or network of the proxy that terminates TLS',
    fallback: '127.0.0.1',
    fault: (answer) => (/^[\da-f.:/, ]+$/i.test(answer) ? null : 'It must be an address.'),
  },
  provider: {
    text: `Sign-in provider (${presetNames}), or a short name for another one`,
    fallback: 'login',
    fault: (answer) =>
      /^[a-z][a-z\d_]{0,31}$/.test(answer) ? null : 'It must be a word in lower case.',
  },
  issuer: {
    text: (answers) =>
      `Its issuer, such as ${presetOf(answers)?.issuer?.example ?? 'https://login.example.com'}`,
    applies: (answers) => presetSettings(answers).ISSUER === undefined,
    fault: (answer) =>
      URL.parse(answer)?.protocol === 'https:' ? null : 'It must be an https URL.',
  },
  clientId: { text: 'Client ID at the provider', fault: notEmpty },
  clientSecret: {
    text: 'Client secret',
    isSecret: true,
    applies: (answers) => !signsSecret(answers),
    fault: notEmpty,
  },
  teamId: { text: 'Team ID at the provider', applies: signsSecret, fault: notEmpty },
  keyId: { text: 'Key ID', applies: signsSecret, fault: notEmpty },
  privateKeyFile: {
    text: 'File with the private key',
    applies: signsSecret,
    fault: (answer) => (existsSync(answer) ? null : 'There is no such file.'),
  },
  ownerUrl: {
    text: 'URL of the database as its owner, such as postgres://owner:secret@db:5432/gatehouse',
    isSecret: true,
    fault: (answer) =>
      isDatabaseUrl(answer) ? null : 'It must be postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
  },
  billingProvider: {
    text: `Billing provider (${billingProviders.join(', ')}; empty: no billing)`,
    fallback: '',
    fault: (answer) =>
      answer === '' || isBillingProvider(answer)
        ? null
        : `It must be one of ${billingProviders.join(', ')}.`,
  },
  billingSecret: {
    text: (answers) => `Signing secret of its webhooks: ${secretText(billingOf(answers))}`,
    isSecret: true,
    applies: hasBilling,
    fault: (answer, answers) =>
      firstFault(answer, (faults) => checkSecret(billingOf(answers), answer, faults)),
  },
  billingUrl: {
    text: 'URL of the billing API (empty: none)',
    fallback: '',
    applies: (answers) => hasBilling(answers) && billingOf(answers) === 'signed',
    fault: (answer) =>
      answer === '' || URL.parse(answer)?.protocol === 'https:' ? null : 'It must be an https URL.',
  },
  billingKey: {
    text: (answers) => `Key of its API: ${keyText(billingOf(answers))}`,
    isSecret: true,
    applies: (answers) =>
      hasBilling(answers) && (hasCheckout(billingOf(answers)) || !!answers.billingUrl),
    fault: (answer, answers) =>
      modeOf(billingOf(answers), answer) === 'test'
        ? 'It is of the test mode; production needs a live key.'
        : firstFault(answer, (faults) => checkKey(billingOf(answers), answer, faults)),
  },
  billingPlans: {
    text: 'The plan of each price, such as price_123:pro,price_456:team (empty: every subscription is pro)',
    fallback: '',
    applies: (answers) => hasBilling(answers) && billingOf(answers) !== 'signed',
    fault: (answer, answers) =>
      answer === ''
        ? null
        : firstFault(answer, (faults) => readBillingPlans(billingOf(answers), answer, faults)),
  },
  operators: {
    text: 'Who operates it, as provider:subject (empty: the start page shows yours after the first sign-in)',
    fallback: '',
    fault: () => null,
  },
}

/**
 * `gatehouse init`: asks, makes secrets, and writes a `.env` for production, and beside it `.env.migrate` with the
 * owner's connection, which no running program may have.
 */
export default async function init({ out }: { out: string }): Promise<void> {
  const ownerOut = `${out}${ownerFileEnding}`
  for (const file of [out, ownerOut]) await refuseExisting(file)
  const answers = await askAll()
  const entries = settingsOf(answers)
  const env = Object.fromEntries(entries.map(({ name, value }) => [name, value]))
  const config = readConfig(readSecretFiles(env))
  await write(out, fileOf(entries))
  await write(ownerOut, ownerFileOf(answers))
  print(`${out} and ${ownerOut} have been written. Next:`)
  print('  gatehouse migrate   creates the tables and the two database roles')
  print('  gatehouse doctor    checks settings, database and provider')
  print('  gatehouse serve     starts the program')
  print(`Register ${config.redirectUri} as a redirect URI at the provider.`)
  const preset = presetOf(answers)
  if (preset !== null)
    print(`Where, and what else to fill in: docs/sign-in-providers.md#${preset.name}`)
  for (const line of adviceFor(config)) print(line)
}

async function refuseExisting(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists) throw alreadyThere(file)
}

function alreadyThere(file: string): OperatorError {
  return new OperatorError(`${file} exists already.`, 'Move it away, or choose another with --out.')
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code === 'EEXIST') throw alreadyThere(file)
    throw new OperatorError(`${file} cannot be written: ${error.message}.`, 'Choose another one.')
  })
}

/** Asks on the terminal until each answer is good; without one, a bad answer ends the command. */
async function askAll(): Promise<Answers> {
  const isTerminal = process.stdin.isTTY === true
  let isHidden = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) process.stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal })
  const read = lines[Symbol.asyncIterator]()
  const answers: Answers = {}
  try {
    for (const [name, question] of Object.entries(questions)) {
      if (question.applies?.(answers) === false) continue
      answers[name as Name] = await ask(question)
    }
  } finally {
    lines.close()
  }
  return answers

  async function ask({ text: given, fallback, isSecret, fault }: Question): Promise<string> {
    const text = typeof given === 'string' ? given : given(answers)
    for (;;) {
      process.stderr.write(`${text}${fallback ? ` [${fallback}]` : ''}: `)
      isHidden = isSecret === true
      const { value, done } = await read.next()
      isHidden = false
      if (isSecret || !isTerminal) process.stderr.write('\n')
      if (done) throw new OperatorError('The answers ended too early.', 'Nothing was written.')
      const answer = value.trim() || (fallback ?? '')
      const wrong = /[\r\n\0']/.test(answer) ? 'It must have no quotes.' : fault(answer, answers)
      if (wrong === null) return answer
      if (!isTerminal) throw new OperatorError(`${text}: ${wrong}`, 'Nothing was written.')
      printMessage(wrong)
    }
  }
}

type Entry = { name: string; value: string; comment?: string }

function settingsOf(answers: Answers): Entry[] {
  const { baseUrl = '', trustProxy = '', ownerUrl = '' } = answers
  return [
    { name: 'NODE_ENV', value: 'production', comment: 'Never starts parts of the demo.' },
    { name: 'BASE_URL', value: baseUrl.replace(/\/$/, '') },
    { name: 'TRUST_PROXY', value: trustProxy },
    ...(isLoopback(trustProxy)
      ? [
          {
            name: 'HOST',
            value: '127.0.0.1',
            comment: 'Only the proxy on this machine reaches the program.',
          },
        ]
      : []),
    {
      name: 'DATABASE_URL',
      value: withLogin(ownerUrl, 'gatehouse_app'),
      comment: '`migrate` creates this role and the next with these passwords.',
    },
    { name: 'DATABASE_WORKER_URL', value: withLogin(ownerUrl, 'gatehouse_worker') },
    { name: 'SESSION_SECRETS', value: randomToken(), comment: 'Signs session cookies.' },
    {
      name: 'ENCRYPTION_KEYS',
      value: `k1:${randomToken()}`,
      comment: 'Encrypts provider tokens and endpoint secrets. Back it up apart from the database.',
    },
    ...billingSettings(answers),
    ...providerSettings(answers),
    ...optional('OPERATORS', answers.operators, 'They see what belongs to no tenant.'),
  ]
}

function optional(name: string, value: string | undefined, comment: string): Entry[] {
  return value === undefined || value === '' ? [] : [{ name, value, comment }]
}

function billingSettings(answers: Answers): Entry[] {
  if (!hasBilling(answers)) return []
  const { billingSecret, billingUrl, billingKey, billingPlans } = answers
  return [
    { name: 'BILLING_PROVIDER', value: billingOf(answers), comment: 'docs/billing-events.md' },
    ...optional('BILLING_WEBHOOK_SECRETS', billingSecret, 'Shared with the billing provider.'),
    ...optional('BILLING_API_URL', billingUrl, 'Where its API is.'),
    ...optional('BILLING_API_KEY', billingKey, 'Web processes need it too, to start checkouts.'),
    ...optional('BILLING_PLANS', billingPlans, 'The prices that people can pay.'),
  ]
}

function hasBilling({ billingProvider = '' }: Answers): boolean {
  return billingProvider !== ''
}

function billingOf({ billingProvider = '' }: Answers): BillingProviderName {
  return isBillingProvider(billingProvider) ? billingProvider : 'signed'
}

/** The first fault that a check of the settings finds. */
function firstFault(answer: string, check: (faults: string[]) => void): string | null {
  const faults: string[] = []
  check(faults)
  return notEmpty(answer) ?? faults[0] ?? null
}

function isLoopback(addresses: string): boolean {
  return addresses.split(',').every((one) => /^(127\.|::1$)/.test(one.trim()))
}

/** What the preset of the provider does not say. */
function providerSettings(answers: Answers): Entry[] {
  const { provider = '' } = answers
  const given = {
    ISSUER: answers.issuer,
    CLIENT_ID: answers.clientId,
    CLIENT_SECRET: answers.clientSecret,
    TEAM_ID: answers.teamId,
    KEY_ID: answers.keyId,
    PRIVATE_KEY_FILE: answers.privateKeyFile && resolve(answers.privateKeyFile),
  }
  const settings = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: `OIDC_${provider.toUpperCase()}_${name}`, value }],
  )
  return [{ name: 'OIDC_PROVIDERS', value: provider }, ...settings]
}

function presetOf({ provider = '' }: Answers): Preset | null {
  return findPreset(provider)
}

function presetSettings(answers: Answers): Readonly<Record<string, string>> {
  const preset = presetOf(answers)
  return preset === null ? {} : settingsOfPreset(preset)
}

/** True if the client secret is a token that the program signs. */
function signsSecret(answers: Answers): boolean {
  return presetSettings(answers).CLIENT_AUTH === 'signed_secret'
}

function fileOf(entries: readonly Entry[]): string {
  const lines = entries.map(
    ({ name, value, comment }) =>
      `${comment === undefined ? '' : `\n# ${comment}\n`}${name}='${value}'\n`,
  )
  return `# Settings of Gatehouse for production; all others: docs/settings.md\n${lines.join('')}`
}

/** Read by `migrate` and the other commands of the owner alone. */
function ownerFileOf({ ownerUrl = '' }: Answers): string {
  return `# Only for commands such as migrate: keep it away from where the program runs.\nDATABASE_OWNER_URL='${ownerUrl}'\n`
}

function withLogin(ownerUrl: string, user: string): string {
  const url = new URL(ownerUrl)
  url.username = user
  url.password = randomToken()
  return url.href
}

function notEmpty(answer: string): string | null {
  return answer === '' ? 'It is needed.' : null
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.protocol === 'https:' && url.pathname === '/' && !url.search
}

function isDatabaseUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^postgres(ql)?:$/.test(url.protocol) &&
    url.username !== '' &&
    url.pathname.length > 1
  )
}
