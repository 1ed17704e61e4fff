import { eventStreamType, replyWithEvents } from '../../../http/answer/event-stream.ts'
import { reply } from '../../../http/route.ts'
import { route } from '../../route.ts'
import type { TestAnswer, TestQuestion, TestStep, TestWatcher } from './test-answer.ts'
import { invalid, NotFound } from '../../../lib/errors.ts'
import { verbatim } from '../../../api/json.ts'
import { findUserId } from '../../users/store.ts'
import { requireAgentId } from '../find.ts'
import { AgentPath } from '../schema.ts'
import { AgentTest, AgentTestInput } from './schema.ts'

const test = route('POST /api/agents/{agent}/test', {
  summary:
    'Try an agent: answers as in a chat, and writes nothing; as events (delta, step, end) where these are accepted',
  auth: 'key',
  params: AgentPath,
  body: AgentTestInput,
  streams: eventStreamType,
  replies: { 200: AgentTest },
  problems: [NotFound],
  async handle({ params, body, by, representation }, { sql, outboundQuota, agents }) {
    const { text, user, history, instructions, tools } = body
    const agent = await requireAgentId(sql, params.agent)
    const asker = user == null ? by.user : await findUserId(sql, user)
    if (asker === null) throw invalid({ user: ['there is no such user'] })
    const question: TestQuestion = {
      agent,
      text,
      asker,
      history: history ?? [],
      instructions: instructions ?? null,
      tools: tools ?? 'dry',
    }
    const end = outboundQuota.begin(by)
    const ask = (watcher: TestWatcher, signal: AbortSignal) => agents.test(question, watcher, signal).finally(end)
    if (!representation.isStream) return reply(200, showAnswer(await ask(silent, new AbortController().signal)))
    return replyWithEvents(representation, async (send, signal) => {
      const watcher: TestWatcher = {
        onText: delta => send('delta', { text: delta }),
        onRestart: () => send('delta', { text: '', restarted: true }),
        onStep: step => send('step', showStep(step)),
      }
      send('end', showAnswer(await ask(watcher, signal)))
    })
  },
})

const silent: TestWatcher = { onText() {}, onRestart() {}, onStep() {} }

function showAnswer({ steps, ...answer }: TestAnswer) {
  return { ...answer, steps: steps.map(showStep) }
}

function showStep({ kind, name, arguments: args, result, outcome }: TestStep) {
  return { kind, name, arguments: verbatim(args), result, outcome }
}

export const testRoutes = [test]
