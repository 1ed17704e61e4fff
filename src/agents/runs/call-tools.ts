import { parseArguments } from '../providers/call-arguments.ts'
import type { Call, CallResult } from '../providers/provider.ts'
import { searchToolName, type BoundTool, type Toolbox } from '../tools/tool.ts'
import type { Approval, Question } from './host.ts'
import type { Journal } from './journal.ts'
import { toResult, type CallBody, type StepRow } from './steps.ts'

/** Calls of one round; the surplus is told so. As the API says. */
const mostCalls = 16

/** Calls of one round that a person may be asked about. */
const mostQuestions = 4

/** Calls under way at a time. */
const atOnce = 4

const tooMany = 'There were too many calls in one round. Call again what is still needed.'
const isLost = 'The call was sent, but its result was lost. Do not repeat it without asking.'

export interface Round {
  /** Names the run to tools. */
  run: string
  journal: Journal
  toolbox: Toolbox
  /** What the model wrote with the calls. */
  text: string
  calls: readonly Call[]
  /** The step of the first call; the others follow. */
  first: number
  /** What is stored of these calls already. */
  stored: ReadonlyMap<number, StepRow>
  approvals: readonly Approval[]
  /** Files of the passages that the model was given so far; those of this round's results are added. */
  passages: number[]
  signal: AbortSignal
  onCall: (tool: string, isBegun: boolean) => void
  onEnd: (kind: string, outcome: string) => void
}

/** One call, understood. */
interface Planned {
  call: Call
  step: number
  tool: BoundTool | undefined
  args: Record<string, unknown> | null
}

/** What a person has to be asked before any call of the round is made; none: the round can begin. */
export function listQuestions(round: Round): Question[] {
  return plan(round)
    .filter(planned => needsApproval(planned, round))
    .slice(0, mostQuestions)
    .filter(({ step }) => round.approvals.every(approval => approval.step !== step))
    .map(({ step, tool, args }) => {
      const { server, tool: name, binding } = tool!.approval!
      return { step, server, tool: name, arguments: args!, binding: binding(args!), preamble: round.text }
    })
}

/**
 * Makes the calls of a round that were not made before, some at a time, and gives the results in the order of the calls.
 * Rejects with RunLost, or when the signal aborts.
 */
export async function callTools(round: Round): Promise<CallResult[]> {
  const planned = plan(round)
  const asked = planned.filter(one => needsApproval(one, round)).slice(mostQuestions)
  const bodies = Array.from<CallBody>({ length: planned.length })
  const make = async (place: number) => {
    const one = planned[place]!
    const isSurplus = place >= mostCalls || asked.includes(one)
    const body = isSurplus ? { arguments: null, result: tooMany, isError: true } : await settle(one, round)
    bodies[place] = body
    round.passages.push(...(body.files ?? []))
  }
  // Searches follow each other: the passages of each are numbered behind those of the one before.
  const searches = [...planned.keys()].filter(place => planned[place]!.call.name === searchToolName)
  const others = [...planned.keys()].filter(place => planned[place]!.call.name !== searchToolName)
  const work = async (...places: number[][]) => {
    for (const waiting of places) {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await make(next)
    }
  }
  const first = work(searches, others)
  // All come to their end: a call that goes on behind a run that has failed would write into the next claim of it.
  const ended = await Promise.allSettled([first, ...Array.from({ length: atOnce - 1 }, () => work(others))])
  for (const result of ended) if (result.status === 'rejected') throw result.reason
  return planned.map(({ call }, place) => toResult(call, bodies[place]!))
}

function plan({ calls, first, toolbox }: Round): Planned[] {
  return calls.map((call, place) => ({
    call,
    step: first + place,
    tool: toolbox.find(call.name),
    args: parseArguments(call.arguments),
  }))
}

/** Once it was asked about, a call is bound to the answer, whatever its tool asks for now. */
function needsApproval({ tool, args, step }: Planned, { approvals, first }: Round): boolean {
  if (step - first >= mostCalls) return false
  return approvals.some(approval => approval.step === step) || (args !== null && (tool?.approval ?? null) !== null)
}

async function settle(planned: Planned, round: Round): Promise<CallBody> {
  const stored = round.stored.get(planned.step)
  if (stored !== undefined && stored.outcome !== null) return stored.body as CallBody
  const approval = round.approvals.find(({ step }) => step === planned.step)
  const { call, tool, args, step } = planned
  const body: CallBody = { arguments: args }
  const refuse = (result: string): CallBody => ({ ...body, result, isError: true })
  if (tool === undefined) return await file(refuse(`There is no tool ${call.name} now.`), 'error', planned, round)
  if (args === null) return await file(refuse('The arguments are no JSON object.'), 'error', planned, round)
  if (approval !== undefined) {
    const refusal = refusalOf(approval, tool, args)
    if (refusal !== null) return await file(refuse(refusal), 'error', planned, round)
  }
  if (stored !== undefined && !tool.isRepeatable) return await file(refuse(isLost), 'unknown', planned, round)

  const { journal, run, signal, passages, onCall } = round
  await journal.called({ n: step, kind: tool.kind, name: call.name, callId: call.id, args })
  onCall(call.name, true)
  const result = await tool.call(args, { run, step, passages: passages.length, signal })
  signal.throwIfAborted()
  onCall(call.name, false)
  const { text, isError, images, passages: found } = result
  const done: CallBody = {
    ...body,
    result: text,
    isError,
    ...(images && { images: images.map(({ image, type }) => ({ image: image.toString('base64'), type })) }),
    ...(found && { files: found.map(({ file }) => file) }),
  }
  await journal.ended({ n: step, body: done, outcome: isError ? 'error' : 'ok' })
  round.onEnd(tool.kind, isError ? 'error' : 'ok')
  return done
}

/** Null where exactly this call was approved. */
function refusalOf(approval: Approval, tool: BoundTool, args: Record<string, unknown>): string | null {
  const { state, note, decider, binding } = approval
  if (state !== 'approved') return `${decider ?? 'The person'} declined${note === null ? '' : `: ${note}`}`
  const now = tool.approval?.binding(args)
  return now === undefined || now.equals(binding) ? null : 'The tool was changed since the call was approved.'
}

/** Files a result that no call was made for now. */
async function file(
  body: CallBody,
  outcome: 'error' | 'unknown',
  { call, step, tool }: Planned,
  { journal, stored, onEnd }: Round,
): Promise<CallBody> {
  const kind = tool?.kind ?? 'function'
  if (!stored.has(step)) {
    await journal.called({ n: step, kind, name: call.name, callId: call.id, args: body.arguments })
  }
  await journal.ended({ n: step, body, outcome })
  onEnd(kind, outcome)
  return body
}
