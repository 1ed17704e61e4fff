import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { Tracer } from '../../../lib/tracer.ts'
import { ProviderFailed, type ModelRequest, type Turn, type Usage } from '../../providers/provider.ts'
import { cleanText, cutText, resolveCitations, withSources } from './answer-text.ts'
import { askModel, type ModelAnswer } from './ask-model.ts'
import { callTools, listQuestions, type Round } from './call-tools.ts'
import type { Answer, Approval, Briefing, Question, RunChange } from '../host.ts'
import type { Journal } from '../journal.ts'
import { RunEnds } from '../run.ts'
import type { ModelBody, StepRow } from '../steps.ts'

/** Requests after which the model has to answer without further tools. A rule of the API. */
const roundLimit = 8

const noMoreCalls = 'No more tools can be called. Answer with what you have.'

/** The most files named by an answer without citations, because they were searched. */
const searchedLimit = 5

export interface AnsweringParts {
  /** Null where runs are not traced. */
  tracer: Tracer | null
  clock: Clock
  log: Log
  count: AnsweringCounts
  /** Removes keys from texts for the log. */
  conceal: (text: string) => string
}

/** Counts for the metrics. */
export interface AnsweringCounts {
  tokens(provider: string, usage: Usage): void
  providerError(provider: string, code: string): void
  retry(): void
  call(kind: string, outcome: string): void
}

/** The state of an unfinished answer, which is posted if the asker cancels and keeps it. */
export interface Progress {
  text: string
}

/** A question that is being answered. */
export interface Work extends AnsweringParts {
  /** The run's id, for tools and the log. */
  id: string
  journal: Journal
  signal: AbortSignal
  progress: Progress
  /** Reads what the run begins with. */
  brief(): Promise<Briefing>
  /** The state of the questions asked so far. */
  approvals(): Promise<Approval[]>
  /** Asks a user to approve a call. */
  ask(question: Question): Promise<void>
  onChange(change: RunChange): void
  /** A piece of the model's text. `isFirst` begins a step. */
  onText(text: string, isFirst: boolean): void
}

export type Outcome =
  | { state: 'answered'; answer: Pick<Answer, 'text' | 'finish' | 'files'>; requestId: string | null }
  /** Calls wait for a user's approval. */
  | { state: 'waiting' }

/**
 * Makes an answer: reads the context, asks the model and calls its tools, repeatedly. Each step is stored when it ends,
 * and stored steps are not repeated, so another node can continue after a crash. Throws RunEnds with the error to
 * report, and RunLost.
 */
export async function answer(work: Work): Promise<Outcome> {
  const briefing = await work.brief()
  try {
    const { provider, providerId, request } = briefing
    await work.journal.model(providerId, request.model)
    if (provider === undefined) {
      work.log.error({ run: work.id, provider: providerId }, 'An agent’s provider is not configured')
      throw new RunEnds('failed', 'provider_not_configured', true)
    }
    return await converse(work, briefing)
  } finally {
    await briefing.toolbox.close()
  }
}

/** The state of a run's conversation with the model. */
interface Thread {
  turns: Turn[]
  /** The stored steps, by number. */
  steps: ReadonlyMap<number, StepRow>
  next: number
  rounds: number
  /** The text of steps in which the vendor paused. */
  paused: string
  sources: ModelBody['sources']
  passages: number[]
  searched: number[]
}

async function converse(work: Work, briefing: Briefing): Promise<Outcome> {
  const thread: Thread = {
    turns: [...briefing.request.turns],
    steps: new Map((await work.journal.steps()).map(step => [step.n, step])),
    next: 0,
    rounds: 0,
    paused: '',
    sources: [],
    passages: [...briefing.passages],
    searched: [],
  }
  for (;;) {
    const { body, requestId } = await nextModelStep(work, briefing, thread)
    thread.sources.push(...body.sources)
    thread.turns.push({
      role: 'step',
      provider: body.provider,
      body: body.blocks,
      text: body.text,
      calls: body.calls,
    })
    if (body.reason === 'calls' && mayCall(thread)) {
      if (!(await callAll(work, briefing, thread, body))) return { state: 'waiting' }
      thread.rounds++
      thread.paused = ''
    } else if (body.reason === 'pause' && mayCall(thread)) {
      thread.rounds++
      thread.paused += body.text
    } else return { state: 'answered', answer: finish(briefing, thread, body), requestId }
  }
}

const mayCall = ({ rounds }: Thread) => rounds < roundLimit

/** Returns the stored step, or asks the model. */
async function nextModelStep(
  work: Work,
  briefing: Briefing,
  thread: Thread,
): Promise<{ body: ModelBody; requestId: string | null }> {
  const stored = thread.steps.get(thread.next)
  const n = thread.next++
  if (stored !== undefined) return { body: stored.body as ModelBody, requestId: null }
  const beganAt = new Date(work.clock.now())
  const { body, usage, requestId, thread: kept } = await ask(work, briefing, toRequest(briefing, thread))
  await work.journal.answered({ n, body, usage, beganAt })
  work.count.tokens(briefing.providerId, usage)
  if (kept !== null) await work.journal.thread(kept)
  return { body, requestId }
}

function toRequest({ request }: Briefing, thread: Thread): Omit<ModelRequest, 'attempt'> {
  const { turns } = thread
  if (mayCall(thread)) return { ...request, turns }
  return { ...request, turns, system: `${request.system}\n\n${noMoreCalls}`, mayCall: false }
}

async function ask(work: Work, briefing: Briefing, request: Omit<ModelRequest, 'attempt'>): Promise<ModelAnswer> {
  const { journal, count, progress, signal, clock, tracer } = work
  let isFirst = true
  progress.text = ''
  try {
    return await askModel({
      configured: briefing.provider!,
      providerId: briefing.providerId,
      request,
      tracer,
      clock,
      signal,
      onText(text) {
        if (isFirst) journal.firstText()
        progress.text += text
        work.onText(text, isFirst)
        isFirst = false
      },
      onRestart(failure, usage) {
        isFirst = true
        progress.text = ''
        count.retry()
        logFailure(work, briefing, failure)
        work.onChange({ state: 'running', isRestarted: true })
        journal.wasted(usage)
      },
    })
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error
    logFailure(work, briefing, error)
    const isKeyWrong = error.status === 401 || error.status === 403
    throw new RunEnds('failed', isKeyWrong ? 'provider_not_configured' : error.code, true, error)
  }
}

/** The vendor's own words go to the log only. */
function logFailure({ id, log, conceal, count }: Work, { providerId }: Briefing, failure: ProviderFailed): void {
  const { status, code } = failure
  count.providerError(providerId, code)
  const facts = { run: id, provider: providerId, status, code, detail: conceal(failure.message).slice(0, 300) }
  if (status === 401 || status === 403) log.error(facts, 'A provider refuses the key')
  else log.warn(facts, 'A provider did not answer')
}

/** Makes the calls of a step and adds their results. False where a user has to approve some first. */
async function callAll(work: Work, briefing: Briefing, thread: Thread, body: ModelBody): Promise<boolean> {
  const { id, journal, signal, count } = work
  const first = thread.next
  const before = thread.passages.length
  const round: Round = {
    run: id,
    journal,
    toolbox: briefing.toolbox,
    text: cleanText(body.text, briefing.request.agent),
    calls: body.calls,
    first,
    stored: thread.steps,
    approvals: await work.approvals(),
    passages: thread.passages,
    signal,
    onCall: (tool, isBegun) => work.onChange({ state: 'running', ...(isBegun && { tool }) }),
    onEnd: (kind, outcome) => count.call(kind, outcome),
  }
  const questions = listQuestions(round)
  for (const question of questions) await work.ask(question)
  if (questions.length > 0) return false
  if (round.approvals.some(({ step, state }) => step >= first && state === 'pending')) return false
  const results = await callTools(round)
  const found = thread.passages.slice(before)
  if (found.length > 0) thread.searched = [...new Set(found)]
  thread.turns.push({ role: 'results', results })
  thread.next = first + body.calls.length
  return true
}

function finish(
  { request }: Briefing,
  { paused, sources, passages, searched }: Thread,
  { text, reason }: ModelBody,
): Pick<Answer, 'text' | 'finish' | 'files'> {
  const clean = cleanText(paused + text, request.agent)
  // A model that only thought, or only introduced itself, has given no answer.
  if (clean === '') throw new RunEnds('failed', 'provider_error', true)
  const cited = resolveCitations(clean, passages)
  const files = cited.files.length > 0 ? cited.files : searched.slice(0, searchedLimit)
  const cut = cutText(withSources(cited.text, sources))
  return { text: cut.text, finish: cut.isCut || reason === 'length' ? 'length' : null, files }
}
