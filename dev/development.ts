/** What dev/cli.ts adds to the program: the demo. */

export { greeting, startDemo } from './demo/demo.ts'
export { describeDemo, findRunningDemo, withDemoSettings } from './demo/running-demo.ts'
