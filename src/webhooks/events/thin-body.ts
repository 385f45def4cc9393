const idMembers = ['id', 'userId', 'endpointId'] as const

/**
 * The body of an event for an endpoint with a thin payload. Its data has only the id of the object, so
 * that the content stays with its owner; for an event without an object, the id of the user or endpoint.
 */
export function thinBody(body: string): string {
  const { data, ...event } = JSON.parse(body)
  const name = idMembers.find((member) => Object.hasOwn(data, member))
  return JSON.stringify({ ...event, data: name === undefined ? {} : { [name]: data[name] } })
}
