import { z } from 'zod'
import { kinds } from '../../agents/providers/kinds.ts'
import { toChoice } from '../../http/request/field-errors.ts'
import { UidInput, VisibleInput } from '../../api/shape.ts'
import { integer, ranges, secret, setting, text, yesOrNo } from '../setting.ts'

const providerIds = kinds.map(({ id }) => id)

/** Agents: what their answers may cost, the ready-made one, and what they may call. */
export const agentsSettings = {
  hasRuns: setting('AGENTS', 'true', yesOrNo, 'Whether this node answers for agents; questions are noted in any case'),
  agentRunsAtOnce: setting('AGENT_RUNS_AT_ONCE', '16', integer(1, 10_000), 'Answers of agents that this node works on'),
  agentSeconds: setting('AGENT_SECONDS', '120', integer(1, 3600), 'Time for an answer, waiting for approval apart'),
  agentInputTokens: setting(
    'AGENT_INPUT_TOKENS',
    '24000',
    integer(1000, 10_000_000),
    'Tokens, by estimate, that a model is given with a question',
  ),
  agentRunsPerUser: setting(
    'AGENT_RUNS_PER_USER',
    '60',
    integer(0, 1_000_000),
    'Answers that one user may ask for in a minute; 0 for no limit',
  ),
  agentRunsPerApp: setting(
    'AGENT_RUNS_PER_APP',
    '300',
    integer(0, 1_000_000),
    'Answers that may be asked for in one app in a minute; 0 for no limit',
  ),
  agentTokensPerDay: setting(
    'AGENT_TOKENS_PER_DAY',
    '0',
    integer(0, 1_000_000_000_000),
    'Tokens of one agent in a day (UTC); 0 for no limit',
  ),
  agentErrorText: setting('AGENT_ERROR_TEXT', null, text, 'What agents say where they cannot answer; without it, why'),
  isAgentTraced: setting(
    'AGENT_TRACE',
    'false',
    yesOrNo,
    'Whether what models and tools said is kept with the runs of agents, for API keys to read',
  ),
  agentRunDays: setting('AGENT_RUN_DAYS', '30', integer(1, 3650), 'Days for which runs of agents are kept'),
  assistantProvider: setting(
    'ASSISTANT_PROVIDER',
    null,
    z.enum(providerIds, `must be ${toChoice(providerIds)}`),
    'Provider of an agent that is made at the start, where there is none with its uid; without it, none is made',
  ),
  assistantUid: setting('ASSISTANT_UID', 'assistant', UidInput, 'Uid of that agent'),
  assistantName: setting('ASSISTANT_NAME', 'Assistant', VisibleInput(256), 'Name of the ready-made assistant'),
  assistantModel: setting(
    'ASSISTANT_MODEL',
    'echo',
    text.max(256),
    'Model of the ready-made assistant; of builtin, what it does',
  ),
  assistantInstructions: setting(
    'ASSISTANT_INSTRUCTIONS',
    null,
    text.max(32_768),
    'Instructions of the ready-made assistant',
  ),
  toolDeny: setting(
    'TOOL_DENY',
    null,
    ranges,
    'Addresses that functions and tool servers of agents may not reach; without it, as WEBHOOK_DENY',
  ),
  toolAllow: setting(
    'TOOL_ALLOW',
    null,
    ranges,
    'Addresses that they may reach beyond public, private and loopback ones; without it, as WEBHOOK_ALLOW',
  ),
  functionSecret: setting(
    'FUNCTION_SECRET',
    null,
    secret(text.min(16, 'must have at least 16 characters')),
    'Signs the calls of functions, as in Standard Webhooks; without it, they are not signed',
  ),
  agentMaxTokens: setting(
    'AGENT_MAX_TOKENS',
    '4096',
    integer(1, 1_000_000),
    'Longest answer of an agent in tokens, where the agent has no limit and the vendor asks for one',
  ),
} as const
