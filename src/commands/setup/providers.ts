import { createProvider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import { type Config, ConfigError, readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { findPreset } from '#src/config/providers/presets.ts'
import { certificateRemedy } from '#src/runtime/certificate-errors.ts'
import { withEnvironment } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'

type Report = {
  provider: string
  faults: readonly string[]
  /** What to register, and what the preset does. */
  facts: readonly string[]
}

/** `gatehouse providers check`: what each provider supports and needs, and what is wrong. */
export default async function checkProviders(
  env: Environment,
  name: string | undefined,
  { json }: { readonly json?: true },
): Promise<void> {
  const reports = await withEnvironment(env, (settings) => examine(settings, name))
  if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1
  if (json) return printJson(reports)
  for (const { provider, faults, facts } of reports) {
    print(`${faults.length === 0 ? 'ok   ' : 'FAULT'}  ${provider}`)
    for (const line of [...faults, ...facts]) print(`         ${line}`)
  }
}

async function examine(env: Environment, name: string | undefined): Promise<Report[]> {
  try {
    const config = readConfig(env)
    const chosen = config.providers.filter((setup) => name === undefined || setup.name === name)
    if (chosen.length > 0) {
      return await Promise.all(chosen.map((setup) => examineOne(setup, config)))
    }
    const names = config.providers.map((setup) => setup.name).join(', ')
    const fault = `There is no such provider. OIDC_PROVIDERS has ${names}.`
    return [{ provider: name ?? '', faults: [fault], facts: [] }]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ provider: 'settings', faults: error.faults, facts: [] }]
  }
}

async function examineOne(
  setup: Config['providers'][number],
  { clock, baseUrl, redirectUri, signedOutUri }: Config,
): Promise<Report> {
  const provider = createProvider(setup, { clock })
  const prefix = `OIDC_${setup.name.toUpperCase()}`
  const facts = [
    `Register as redirect URI: ${redirectUri}`,
    ...presetFacts(setup),
    ...additionFacts(setup),
  ]
  try {
    const supported = await provider.describe()
    if (supported.logout) {
      facts.push(`Register as post-logout redirect URI: ${signedOutUri}`)
      const backchannel = `${baseUrl}/auth/backchannel-logout/${setup.name}`
      facts.push(`Register as back-channel logout URI, if it has one: ${backchannel}`)
    }
    const faults: string[] = []
    if (setup.userinfo && !supported.userinfo) {
      faults.push(`It has no usable userinfo endpoint. Set ${prefix}_USERINFO=false.`)
    }
    facts.push(`Logout at the provider: ${supported.logout ? 'yes' : 'no'}.`)
    facts.push(`Tokens are revoked at sign-out: ${supported.revocation ? 'yes' : 'no'}.`)
    return { provider: `${setup.name} (${setup.issuer})`, faults, facts }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const fault = `${message} ${providerRemedy(setup, error)}`
    return { provider: `${setup.name} (${setup.issuer})`, faults: [fault], facts }
  }
}

/** What to do about an error of `check` or `describe`. */
export function providerRemedy(
  { name }: Pick<Config['providers'][number], 'name'>,
  error: unknown,
): string {
  const isUntrusted = error instanceof ProviderUnavailable && error.reason === 'certificate'
  return isUntrusted
    ? certificateRemedy
    : `Check OIDC_${name.toUpperCase()}_ISSUER and the network.`
}

/** What a sign-in reads beside the statement of who the person is, and what follows if that fails. */
function additionFacts({ oauth2, userinfo }: Config['providers'][number]): string[] {
  const leftOut = 'the log says so once, and people sign in without'
  const { emailsUrl, lists = [] } = oauth2?.profile ?? {}
  return [
    ...(emailsUrl === undefined ? [] : [`If ${emailsUrl} cannot be read, ${leftOut} an address.`]),
    ...lists.map(
      ({ url, claim }) =>
        `If ${url} cannot be read, nobody signs in: REQUIRE or ROLE_MAP has ${claim}.`,
    ),
    ...(oauth2 !== null || !userinfo
      ? []
      : [
          `If userinfo cannot be read, ${leftOut} it whose id_token has the name, the address, whether it is verified, and what REQUIRE and ROLE_MAP name; others cannot sign in.`,
        ]),
  ]
}

function presetFacts({ preset: name }: Config['providers'][number]): string[] {
  const preset = name === null ? null : findPreset(name)
  if (preset === null) return ['No preset.']
  const set = preset.quirks.map(({ setting, value, reason }) => `${setting}=${value}: ${reason}`)
  return [
    `Preset ${preset.name}, docs/sign-in-providers.md#${preset.name}`,
    ...set,
    ...preset.notes,
  ]
}
