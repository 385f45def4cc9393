import Type, { type Static, type TObject, type TProperties } from 'typebox'

/** Settings of an app: what it reads from the environment, and their values where a server or a job has them. */
export type AppSettings<Schema extends TObject = TObject> = {
  readonly schema: Schema
  /** The values, from the `app` of a route or what a run of a job gets. */
  of(holder: { readonly settings: object }): Static<Schema>
}

/**
 * Declares settings of the app, each a schema with a `description`: `{ REPORT_HOUR: Type.Integer({ default: 7 }) }`. They are
 * read from the environment and validated at start with those of Gatehouse.
 * @throws Error if a name is not in capitals, or one has no description
 */
export function defineSettings<Properties extends TProperties>(
  properties: Properties,
): AppSettings<TObject<Properties>> {
  for (const [name, schema] of Object.entries(properties)) {
    if (!/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name)) {
      throw new Error(`The setting ${name} has a name that is not words in capitals.`)
    }
    if (!Object(schema).description) throw new Error(`The setting ${name} has no description.`)
  }
  const schema = Type.Object(properties)
  return { schema, of: ({ settings }) => settings as Static<typeof schema> } // readConfig has read them
}
