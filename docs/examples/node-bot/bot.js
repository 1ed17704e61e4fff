// Answers where it is mentioned, in every chat that it is in.
import { createParley } from '@parley/client'

const { PARLEY_URL: url, PARLEY_API_KEY: key } = process.env
const admin = createParley({ url, token: key })
const bot = await admin.http.put('/api/users/{user}', { path: { user: 'bot' }, body: { name: 'Bot' } })
const token = async () => (await admin.http.post('/api/users/{user}/tokens', { path: { user: 'bot' } })).access_token
const parley = createParley({ url, token })
const mentions = ['(@bot)', `(@u${bot.id})`]
const followed = new Set()

parley.apps.subscribe(({ data }) => {
  for (const { id, kind } of data) {
    if (followed.has(id) || !kind.includes('chat')) continue
    followed.add(id)
    const app = parley.app(id)
    app.follow({
      event({ event, actor, message }) {
        if (event !== 'message_created' || actor.id === bot.id) return
        if (!mentions.some(mention => message.text?.includes(mention))) return
        app.messages.send({ text: `Hello ${actor.name}!` }).catch(console.error)
      },
    })
  }
})
parley.connection.subscribe(({ state }) => console.log(state))
