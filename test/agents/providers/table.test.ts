import { expect, test } from 'vitest'
import { toOpaqueId } from '../../../src/resources/agents/runs/prompts/briefing.ts'
import { openProviders } from '../../../src/agents/providers/table.ts'
import { readConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { toProviderSettings } from '../../../src/config/part-options.ts'
import { startFakeProvider } from '../../support/fake-provider.ts'
import { ask, find, request } from './ask.ts'

function open(environment: Record<string, string>) {
  const settings = toProviderSettings(readConfig(environment))
  return openProviders(settings, { clock: systemClock, log: createLog('error', () => {}) })
}

test('without any setting, only what needs no model is configured', () => {
  expect(open({}).list()).toEqual([
    { id: 'anthropic', is_configured: false, host: 'api.anthropic.com' },
    { id: 'openai', is_configured: false, host: 'api.openai.com' },
    { id: 'gemini', is_configured: false, host: 'generativelanguage.googleapis.com' },
    { id: 'kapa', is_configured: false, host: 'api.kapa.ai' },
    { id: 'builtin', is_configured: true, host: null },
  ])
  expect(open({}).find('anthropic')).toBeUndefined()
  expect(open({}).find('toString')).toBeUndefined()
})

test('a key, or an address that is not the vendor’s own, configures a provider', () => {
  const providers = open({
    ANTHROPIC_API_KEY: 'sk-1',
    OPENAI_URL: 'http://localhost:11434/v1/',
    GEMINI_URL: 'https://generativelanguage.googleapis.com',
    BUILTIN_URL: 'http://localhost:8080/v1',
  })

  expect(providers.list().map(({ is_configured, host }) => [is_configured, host])).toEqual([
    [true, 'api.anthropic.com'],
    [true, 'localhost:11434'],
    [false, 'generativelanguage.googleapis.com'],
    [false, 'api.kapa.ai'],
    [true, 'localhost:8080'],
  ])
})

test('pictures go to OpenAI itself, and elsewhere only where the settings say so', () => {
  const takesImages = (environment: Record<string, string>) => open(environment).find('openai')?.takesImages

  expect(takesImages({ OPENAI_API_KEY: 'sk-1' })).toBe(true)
  expect(takesImages({ OPENAI_URL: 'http://localhost:11434/v1' })).toBe(false)
  expect(takesImages({ OPENAI_URL: 'http://localhost:11434/v1', OPENAI_IMAGES: 'true' })).toBe(true)
  expect(takesImages({ OPENAI_API_KEY: 'sk-1', OPENAI_IMAGES: 'false' })).toBe(false)
})

test('elsewhere than at OpenAI itself the chat form is spoken, unless the settings say otherwise', async () => {
  await using fake = await startFakeProvider({ text: 'Hi' })

  await ask(find(open({ OPENAI_URL: fake.url }), 'openai'))
  await ask(find(open({ OPENAI_URL: fake.url, OPENAI_FORM: 'responses' }), 'openai'), request())

  expect(fake.requests.map(({ path }) => path)).toEqual(['/chat/completions', '/responses'])
})

test.each([
  ['OPENAI_FORM', 'both'],
  ['OPENAI_URL', 'ftp://localhost/v1'],
  ['OPENAI_URL', 'http://user:pass@localhost/v1'],
  ['ANTHROPIC_API_KEY', 'two words'],
  ['ANTHROPIC_VERSION', 'newest'],
])('%s=%s is a fault at the start that does not repeat the value', (name, value) => {
  expect(() => open({ [name]: value })).toThrow(name)
  expect(() => open({ [name]: value })).not.toThrow(value)
})

test('keys are taken out of texts', () => {
  expect(open({ ANTHROPIC_API_KEY: 'sk-1-abc', KAPA_API_KEY: 'kapa-9' }).conceal('sk-1-abc and kapa-9')).toBe(
    '[secret] and [secret]',
  )
})

test('what vendors call a person is the same each time, and of no use without the key', () => {
  expect(toOpaqueId('secret', 'user:7')).toMatch(/^[\w-]{32}$/)
  expect(toOpaqueId('secret', 'user:7')).toBe(toOpaqueId('secret', 'user:7'))
  expect([toOpaqueId('another', 'user:7'), toOpaqueId('secret', 'user:8')]).not.toContain(
    toOpaqueId('secret', 'user:7'),
  )
})
