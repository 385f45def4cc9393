/**
 * An error that only the operator can fix. The command line prints the message and the remedy in
 * one line without a stack trace, and exits with status 1.
 */
export class OperatorError extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.name = 'OperatorError'
    this.remedy = remedy
  }
}
