import type { Representation } from '../../http/route.ts'
import type { Sql } from '../../postgres/sql.ts'
import { showPictures } from '../blobs/pictures/picture.ts'
import { showAgentSummary, type Viewer } from './represent.ts'
import type { AgentPerson } from './store.ts'

interface Reader extends Viewer {
  sql: Sql
}

/** The detailed agent, with its picture. */
export async function showAgent(agent: AgentPerson, viewer: Reader): Promise<object> {
  const [shown] = await showWhole([agent], viewer)
  return shown!
}

/** The agents of a list: summaries, or whole where the caller asks for that. */
export async function showAgents(
  agents: AgentPerson[],
  viewer: Reader & { representation: Representation },
): Promise<object[]> {
  if (viewer.representation.items === 'details') return showWhole(agents, viewer)
  return agents.map(agent => showAgentSummary(agent, viewer))
}

async function showWhole(agents: AgentPerson[], viewer: Reader): Promise<object[]> {
  const people = agents.map(({ person }) => person)
  const pictures = await showPictures(viewer.sql, people, viewer.origin)
  return agents.map(agent => ({
    ...showAgentSummary(agent, viewer),
    picture: pictures.get(agent.person.id) ?? null,
  }))
}
