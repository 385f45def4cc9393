import account, { audit } from './account.ts'
import backchannelLogout from './backchannel-logout.ts'
import callback from './callback.ts'
import callbackForm from './callback-form.ts'
import identities from './identities.ts'
import jwks from './jwks.ts'
import login from './login.ts'
import logout from './logout.ts'
import oauth2ProxyStart from './oauth2-proxy-start.ts'
import sessions from './sessions.ts'
import signedOut from './signed-out.ts'
import verify, { oauth2Proxy } from './verify.ts'

/** Sign-in, sign-out and the caller's own account; src/app.ts registers each in its scope. */
export default {
  account,
  audit,
  backchannelLogout,
  callback,
  callbackForm,
  identities,
  jwks,
  login,
  logout,
  oauth2Proxy,
  oauth2ProxyStart,
  sessions,
  signedOut,
  verify,
}
