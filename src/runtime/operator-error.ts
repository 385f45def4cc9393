/**
 * Something only the operator can mend. The command line prints the message and the remedy as one
 * line, without a stack, and exits with status 1.
 */
export class OperatorError extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.name = 'OperatorError'
    this.remedy = remedy
  }
}
