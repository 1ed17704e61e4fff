import { verbatim } from '../../api/json.ts'
import type { Served } from '../route.ts'
import { showPictures } from '../blobs/pictures/picture.ts'
import { actorOf } from '../users/represent.ts'
import type { AgentPerson } from './store.ts'

type Viewer = Served<'sql' | 'by' | 'origin'>

/** The detailed agent, with its picture. */
export async function showAgent(agent: AgentPerson, viewer: Viewer): Promise<object> {
  const [shown] = await showWhole([agent], viewer)
  return shown!
}

/** The agents of a list: summaries, or whole where the caller asks for that. */
export async function showAgents(agents: AgentPerson[], viewer: Viewer & Served<'representation'>): Promise<object[]> {
  if (viewer.representation.items === 'details') return showWhole(agents, viewer)
  return agents.map(agent => showAgentSummary(agent, viewer))
}

async function showWhole(agents: AgentPerson[], viewer: Viewer): Promise<object[]> {
  const people = agents.map(({ person }) => person)
  const pictures = await showPictures(viewer.sql, people, viewer.origin)
  return agents.map(agent => ({
    ...showAgentSummary(agent, viewer),
    picture: pictures.get(agent.person.id) ?? null,
  }))
}

/** The summary of an agent. Only API keys, which manage agents, see its instructions and access. */
function showAgentSummary({ person, row }: AgentPerson, { by, origin }: Viewer) {
  const isManaged = by.kind === 'key'
  return {
    ...actorOf(person, origin),
    provider: row.provider,
    model: row.model,
    instructions: isManaged ? row.instructions : null,
    functions: isManaged ? row.functions : null,
    knowledge: isManaged ? row.knowledge : null,
    web_search: row.web_search,
    max_tokens: row.max_tokens,
    directories: person.directories,
    comment: person.comment,
    tags: person.tags,
    metadata: verbatim(person.metadata),
    created_at: person.created_at,
    updated_at: person.updated_at,
    is_trashed: person.trashed_at !== null,
  }
}
