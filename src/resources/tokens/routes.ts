import { NotFound } from '../../lib/errors.ts'
import { reply } from '../../http/route.ts'
import { route } from '../route.ts'
import { SpecialUser, UserPath } from '../users/schema.ts'
import { issueToken, revokeTokens } from './commands.ts'
import { defaultSeconds, NewToken, Token } from './schema.ts'

const issue = route('POST /api/users/{user}/tokens', {
  summary: 'Issue an access token to a user or agent',
  description:
    'For your server, which hands the token to the page or app of that user. It lasts an hour unless `expires_in` ' +
    '(seconds) says otherwise. The token is shown this once.',
  auth: 'key',
  params: UserPath,
  body: NewToken,
  replies: { 200: Token },
  problems: [NotFound, SpecialUser],
  async handle({ params, body, by }, { globalCommands }) {
    const expiresInSeconds = body.expires_in ?? defaultSeconds
    const token = await globalCommands.run(issueToken, by, { user: params.user, expiresInSeconds })
    return reply(200, { access_token: token, expires_in: expiresInSeconds })
  },
})

const revoke = route('DELETE /api/users/{user}/tokens', {
  summary: 'Revoke all access tokens of a user or agent',
  description: 'Signs the user out everywhere, within two seconds on all nodes. Open realtime connections end.',
  auth: 'key',
  params: UserPath,
  replies: { 204: null },
  problems: [NotFound, SpecialUser],
  async handle({ params, by }, { globalCommands }) {
    await globalCommands.run(revokeTokens, by, params.user)
    return reply(204)
  },
})

export const routes = [issue, revoke]
