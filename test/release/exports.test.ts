import { readFile } from 'node:fs/promises'
import t from 'tap'
import { entryModules, exportedBy, exportsTable } from '#dev/release/exports.ts'

/*
 * What apps may import. A name that is added, renamed or removed changes the lists below: tell it in CHANGELOG.md, as
 * an app that uses it must change with the release.
 */

const promised = {
  'src/package/index.ts': `
    App AppPage AppScope AppSettings BillingFact Condition ConditionCaller DemoOfApp DemoPerson Enqueue Field Hook Hooks Job JobRun Line Load Permission PersonFact Plans
    Publish Resource Roles RowOf Scope Text Time
    Uuid Visible allOf anyOf author authorService choice created currency date decimal defineApp defineJob defineResource defineSettings departmentOf
    email everything field fieldIs flag folder haveCredential havePlan haveRole hidden id initially integer json line lines member money optional owner
    personOf reference renamed teamOf tenant text timestamp updated url`,
  'src/package/routes.ts': `
    Act Actions Caller CursorQuery ErrorCode FirstStep Home Html IdParams Member Page Problem ShownList Tx Viewer
    actionsOf amountText emptyState enqueue formOf found html isolated layout line listTable orEmpty pageHead readId readList
    renderForm table timeText toast`,
  'dev/testing/index.ts': `
    AccessTable AllowedCallers ResourceAccess RouteAccess Send TestAnswer TestApp TestAppOptions TestBillingAnswer
    TestBillingEvent TestPerson TestReceiver TestSubject TestWebhook expectAccess startTestApp`,
}

t.test('what is exported is promised', async (t) => {
  for (const [path, names] of Object.entries(promised)) {
    const exported = await namesIn(path)
    t.same(
      exported,
      names.split(/\s+/).filter(Boolean),
      `${path}: a change belongs into CHANGELOG.md`,
    )
  }
})

t.test('docs/exports.md says what each is (npm run generate)', async (t) => {
  t.match(await readFile('docs/exports.md', 'utf8'), await exportsTable())
  for (const [entry, path] of Object.entries(entryModules)) {
    const silent = (await exportedBy(path)).filter(({ words }) => words === '')
    t.same(
      silent.map(({ name }) => name),
      [],
      `${entry}: each has a docstring`,
    )
  }
})

t.test('the page has the names that the promise has', async (t) => {
  for (const [path, names] of Object.entries(promised)) {
    const listed = (await exportedBy(path)).map(({ name }) => name)
    t.same(listed.toSorted(), names.split(/\s+/).filter(Boolean), path)
  }
})

/** The exported names, types too, sorted. Every statement of these files is an `export … from`. */
async function namesIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  const statements = [...code.matchAll(/export (?:type )?\{([^}]*)\} from '[^']+'\n/g)]
  const rest = statements.reduce((rest, [statement]) => rest.replace(statement, ''), code)
  if (rest.trim() !== '') throw new Error(`${path} has other statements: ${rest}`)
  return statements
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/^type /, ''))
    .filter(Boolean)
    .sort()
}
