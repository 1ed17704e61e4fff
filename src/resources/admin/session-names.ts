import type { Db } from '../../postgres/sql.ts'

interface UserName {
  id: number
  uid: string | null
  name: string
}

interface AppName {
  id: number
  uid: string | null
  name: string | null
  type: string
}

/** What users and apps are called, by id. Served by the primary keys. */
export async function findNames(
  db: Db,
  { users, apps }: { users: number[]; apps: number[] },
): Promise<{ users: Map<number, UserName>; apps: Map<number, AppName> }> {
  const [foundUsers, foundApps] = await Promise.all([
    db<UserName[]>`select id, uid, display_name as name from users where id = any(${[...new Set(users)]}::bigint[])`,
    db<AppName[]>`select id, uid, name, type from apps where id = any(${[...new Set(apps)]}::bigint[])`,
  ])
  return {
    users: new Map(foundUsers.map(user => [user.id, user])),
    apps: new Map(foundApps.map(app => [app.id, app])),
  }
}
