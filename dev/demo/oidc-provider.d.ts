/** The used part of `oidc-provider`, which ships no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export type Context = {
    type: string
    body: unknown
    set(name: string, value: string): void
    oidc: {
      prompts: Set<string>
      params: { scope?: string }
      result?: { login?: { accountId: string }; consent?: object }
      client?: { clientId: string }
      session: { accountId: string; grantIdFor(clientId: string): string | undefined }
      provider: Provider
    }
  }

  export type Interaction = {
    uid: string
    params: Record<string, unknown>
    session?: { accountId: string }
  }

  export type InteractionResult =
    | { login: { accountId: string }; consent: object }
    | { error: string; error_description: string }

  export type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }

  export type GrantModel = {
    new (claims: { clientId: string; accountId: string }): Grant
    find(id: string): Promise<Grant | undefined>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    /** Koa's setting: do not write errors to the console. */
    silent: boolean
    /** Koa's setting: trust `X-Forwarded-Proto`. */
    proxy: boolean
    readonly Grant: GrantModel
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: InteractionResult,
    ): Promise<void>
  }

  export const interactionPolicy: {
    Check: new (reason: string, description: string, check: (ctx: Context) => boolean) => object
    base(): { get(prompt: 'login'): { checks: { add(check: object): void } } }
  }
}
