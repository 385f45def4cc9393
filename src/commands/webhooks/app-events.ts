import { unwrap } from '#clients/typescript/src/client.ts'
import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readTextFile } from '#src/runtime/text-file.ts'
import { openApi } from '../api/api-client.ts'
import type { Sources } from '../kit/environment.ts'
import { print, printJson, printMessage } from '../kit/output.ts'

type Json = { readonly json?: true }

/** `gatehouse events publish`: publishes an event of the app in a tenant. */
export async function publish(
  sources: Sources,
  type: string,
  given: string,
  { tenant, id, json }: Json & { readonly tenant: string; readonly id?: string },
): Promise<void> {
  const text = given.startsWith('@') ? readText(given.slice(1)) : given
  const data = parseJsonObject(text)
  if (data === null) {
    throw new OperatorError('The data of the event is not a JSON object.', 'Give one, or @FILE.')
  }
  const { api } = await openApi(sources)
  const body = { type, data, ...(id !== undefined && { id }) }
  const answer = await api.POST('/tenants/{id}/events', { params: { path: { id: tenant } }, body })
  const { data: published } = unwrap(answer)
  if (json) return printJson(published)
  for (const event of published) print(`${event.id}  ${event.type}  ${event.createdAt}`)
}

/** `gatehouse event-types apply`: registers every type of a file. */
export async function applyTypes(sources: Sources, file: string, { json }: Json): Promise<void> {
  const types = parseJsonObject(readText(file))
  if (types === null) {
    throw new OperatorError(`${file} is not a JSON object.`, 'It has the types by their names.')
  }
  const { api } = await openApi(sources)
  const applied: object[] = []
  try {
    for (const [name, facts] of Object.entries(types)) {
      // The API checks what the file says of a type.
      const body = facts as JsonObject & { description: string }
      const answer = await api.PUT('/event-types/{name}', { params: { path: { name } }, body })
      if (!answer.response.ok) printMessage(`${name} is refused.`)
      const type = unwrap(answer)
      applied.push(type)
      if (!json)
        print(`${type.name}  ${answer.response.status === 201 ? 'registered' : 'replaced'}`)
    }
  } finally {
    if (json) printJson(applied)
  }
}

function readText(file: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `${file} cannot be read: ${reason}.`,
      'Give the path of a JSON file that this user may read.',
    )
  }
}
