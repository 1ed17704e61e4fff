import { readConfig } from '../../src/config/config.ts'
import { startNode } from '../../src/main.ts'
import { createDatabase, dataDirOf } from './database.ts'
import { client, type Client } from './client.ts'
import { createReplyCheck } from './replies.ts'

/** The API key of every test server. */
const key = 'wys_a-key-for-tests-that-is-long-enough'

/** Somebody with an access token. */
export interface Person extends Client {
  id: string
  uid: string
  token: string
}

export interface Server extends AsyncDisposable {
  url: string
  /** Where the administration page is. */
  adminUrl: string | null
  key: string
  /** Calls with the API key. */
  admin: Client
  /** Calls without a credential, or with the headers given. */
  request: Client['request']
  /** A new user with a token. The name has no meaning; two people may share it. */
  person(name?: string): Promise<Person>
  /** A new chat room with `count` people who may write in it, and somebody who does not belong to it. */
  chatWith<const Count extends number>(count: Count): Promise<{ app: string; people: Group<Count>; stranger: Person }>
}

/** So many people, so that `const [ann, ben] = people` is known to find somebody. */
type Group<Count extends number, Found extends Person[] = []> = number extends Count
  ? Person[]
  : Found['length'] extends Count
    ? Found
    : Group<Count, [...Found, Person]>

/**
 * A node of our own, in this process, on a free port, with an empty database. `overrides` are environment variables;
 * with DATABASE_URL, it is another node on a database that the test made.
 */
export async function startServer(overrides: Record<string, string> = {}): Promise<Server> {
  const database = overrides.DATABASE_URL === undefined ? await createDatabase() : null
  const node = await startNode(
    readConfig({
      PORT: '0',
      HOST: '127.0.0.1',
      API_KEY: key,
      LOG_LEVEL: 'error',
      DATA_DIR: dataDirOf(database?.url ?? overrides.DATABASE_URL!),
      DRAIN_SECONDS: '5',
      DRAIN_QUIET_MS: '0',
      DATABASE_CONNECTIONS: '5',
      NOTIFY_SECONDS: '0',
      ...(database && { DATABASE_URL: database.url }),
      ...overrides,
    }),
  )
  const check = createReplyCheck()
  const admin = client(node.url, key, check)
  let people = 0

  const person = async (name = 'Person') => {
    const uid = `${name.toLowerCase().replace(/\W/g, '-')}-${++people}`
    const user = await created(admin.post('/api/users', { uid, name }))
    const { access_token: token } = await created(admin.post(`/api/users/${user.id}/tokens`))
    return { ...client(node.url, token, check), id: user.id as string, uid, token: token as string }
  }

  return {
    url: node.url,
    adminUrl: node.adminUrl,
    key,
    admin,
    request: client(node.url, undefined, check).request,
    person,
    async chatWith<const Count extends number>(count: Count) {
      const names = Array.from({ length: count }, (_, i) => ['Ann', 'Ben', 'Eve', 'Kim'][i] ?? `Member ${i}`)
      const [stranger, ...members] = await Promise.all(['Stranger', ...names].map(person))
      const app = await created(admin.post('/api/apps', { type: 'chat_room', members: members.map(({ id }) => id) }))
      // As many names as were asked for.
      return { app: app.id as string, people: members as Group<Count>, stranger: stranger! }
    },
    async [Symbol.asyncDispose]() {
      await node.stop()
      await database?.[Symbol.asyncDispose]()
    },
  }
}

async function created(answer: ReturnType<Client['post']>) {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`A test could not be set up: ${status} ${JSON.stringify(body)}`)
  return body
}
