import { randomUUID } from 'node:crypto'
import { answer, type AnsweringParts } from '../../../agents/runs/answering/answering.ts'
import type { Briefing } from '../../../agents/runs/host.ts'
import { RunEnds } from '../../../agents/runs/run.ts'
import type { BoundTool, Toolbox, ToolboxRequest } from '../../../agents/tools/tool.ts'
import { requireFound } from '../../../lib/errors.ts'
import { nameMentions } from '../../content/text/render.ts'
import { findPassages, noTools, toBriefing, toOpaqueId } from '../runs/prompts/briefing.ts'
import { findAgent, type AgentPerson } from '../store.ts'
import type { HostOptions } from '../runs/host.ts'
import { TestJournal } from './test-journal.ts'
import type { TestAnswer, TestQuestion, TestWatcher } from './test-answer.ts'

interface TestParts
  extends AnsweringParts, Pick<HostOptions, 'sql' | 'userCache' | 'providers' | 'openToolbox' | 'secret'> {
  settings: { inputTokens: number; runMs: number }
}

const notCalled = '(not called in this test)'

/** Characters shown of a provider's error. */
const detailLength = 300

/** A test took longer than a run may. */
class OutOfTime extends Error {}

/**
 * Lets administrators test agents: with the instructions, knowledge, tools and limits of a run, but without an app, a
 * run, or any stored data. Takes at most as long as a run; ends when the signal aborts. NotFound where there is no such
 * agent.
 */
export async function testAgent(
  asked: TestQuestion,
  parts: TestParts,
  watcher: TestWatcher,
  signal: AbortSignal,
): Promise<TestAnswer> {
  const { sql, clock, settings } = parts
  const agent = requireFound(await findAgent(sql, String(asked.agent)))
  const beganMs = clock.now()
  const timing = new AbortController()
  const cancel = clock.after(settings.runMs, () => timing.abort(new OutOfTime()))
  const skipped = new Set<number>()
  const journal = new TestJournal(skipped, step => watcher.onStep(step))
  let system = ''
  const toAnswer = (end: Pick<TestAnswer, 'text' | 'finish' | 'error' | 'detail'>): TestAnswer => {
    const { in: input, out: output, cached } = journal.usage
    const duration = Math.round(clock.now() - beganMs)
    return { ...end, usage: { input, output, cached }, duration, steps: journal.calls, system }
  }
  const both = AbortSignal.any([signal, timing.signal])
  try {
    const outcome = await answer({
      ...parts,
      id: `test-${randomUUID()}`,
      journal,
      signal: both,
      progress: { text: '' },
      brief: async () => {
        const briefing = await brief(agent, asked, { parts, skipped, signal: both })
        system = briefing.request.system
        return briefing
      },
      approvals: async () => [],
      // No tool of a test needs approval.
      ask: async () => {},
      onChange: ({ isRestarted }) => isRestarted && watcher.onRestart(),
      onText: text => watcher.onText(text),
    })
    const { text, finish } = outcome.state === 'answered' ? outcome.answer : { text: null, finish: null }
    return toAnswer({ text: text ?? '', finish, error: null, detail: null })
  } catch (error) {
    return toAnswer({ text: '', finish: null, ...toFault(agent, both.aborted ? both.reason : error, parts) })
  } finally {
    cancel()
  }
}

interface Opening {
  parts: TestParts
  /** Steps of calls that are not made. */
  skipped: Set<number>
  signal: AbortSignal
}

async function brief(agent: AgentPerson, asked: TestQuestion, opening: Opening): Promise<Briefing> {
  const { sql, userCache, providers, secret, settings, clock } = opening.parts
  const { person, row } = agent
  const provider = providers.find(row.provider)
  await userCache.load([asked.asker])
  const { id, uid, display_name: name } = userCache.show(asked.asker)
  const hasTools = provider?.takesTools && asked.tools !== 'none'
  const toolbox = hasTools ? await openTools(agent, asked, { id, uid }, opening) : noTools
  try {
    const bare = nameMentions(asked.text).trim()
    return toBriefing({
      agent,
      instructions: asked.instructions ?? row.instructions,
      provider,
      toolbox,
      asker: { id, name },
      question: { bare, text: bare, metadata: null },
      history: asked.history.map(({ role, text }) => ({ author: role === 'agent' ? person.id : id, text })),
      materials: { context: [], files: [], images: [] },
      passages: provider?.takesTools ? await findPassages(sql, person.id, bare) : [],
      nameOf: () => name,
      place: 'chat',
      appTitle: null,
      now: new Date(clock.now()),
      inputTokens: settings.inputTokens,
      // A vendor's own search cannot be offered without being made.
      webSearch: row.web_search && asked.tools === 'real',
      thread: null,
      person: toOpaqueId(secret, `user:${id}`),
      conversation: toOpaqueId(secret, `test:${person.id}:${id}`),
    })
  } catch (error) {
    await toolbox.close()
    throw error
  }
}

async function openTools(
  { person }: AgentPerson,
  asked: TestQuestion,
  asker: ToolboxRequest['asker'],
  { parts, skipped, signal }: Opening,
): Promise<Toolbox> {
  const agent = { id: person.id, uid: person.uid }
  const toolbox = await parts.openToolbox({ agent, asker, app: null }, signal)
  // Asking for real calls approves them.
  const adapt = asked.tools === 'dry' ? toDry(skipped) : (tool: BoundTool) => ({ ...tool, approval: null })
  return { ...toolbox, tools: toolbox.tools.map(adapt) }
}

function toFault({ row }: AgentPerson, error: unknown, { conceal }: TestParts): Pick<TestAnswer, 'error' | 'detail'> {
  if (error instanceof OutOfTime) return { error: 'timeout', detail: null }
  if (!(error instanceof RunEnds)) throw error
  const { cause } = error
  const said = cause instanceof Error ? cause.message : null
  const detail =
    said === null && error.error === 'provider_not_configured' ? `${row.provider} is not configured.` : said
  return { error: error.error, detail: detail && conceal(detail).slice(0, detailLength) }
}

/** A tool that is offered and not called. */
function toDry(skipped: Set<number>): (tool: BoundTool) => BoundTool {
  return tool => ({
    ...tool,
    approval: null,
    async call(_, { step }) {
      skipped.add(step)
      return { text: notCalled, isError: false }
    },
  })
}
