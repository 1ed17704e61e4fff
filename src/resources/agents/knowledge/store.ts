import type { Db } from '../../../storage/sql.ts'

/** The files apps that an agent may search. */
export async function findKnowledge(db: Db, agent: number): Promise<number[]> {
  const [row] = await db<{ knowledge: number[] }[]>`select knowledge from agents where user_id = ${agent}`
  return row?.knowledge ?? []
}
