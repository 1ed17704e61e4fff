import { kinds } from '../../agents/providers/kinds.ts'
import { key, plainUrl, setting, type Setting } from '../setting.ts'

/** The settings of each provider of models, by its id: its key, its URL, and its own. */
export const providersSettings: [id: string, settings: Record<string, Setting<unknown>>][] = kinds.map(kind => {
  const { id, url, meanings, settings } = kind
  const name = id.toUpperCase()
  return [
    id,
    {
      key: setting(`${name}_API_KEY`, null, key, meanings?.key ?? `Key for agents with the provider ${id}`),
      url: setting(`${name}_URL`, url, plainUrl, meanings?.url ?? 'Where that provider is'),
      ...settings,
    },
  ]
})
