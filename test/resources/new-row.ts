/** In place of the id of a row that another one needs: the row is inserted in the same statement. */
export class NewRow {
  readonly table: string
  readonly row: Readonly<Record<string, unknown>>

  constructor(table: string, row: Readonly<Record<string, unknown>>) {
    this.table = table
    this.row = row
  }
}
