import { Icon } from '../parts/icon.tsx'
import type { Setting } from '../server/shapes.ts'
import { useResource } from '../server/use-resource.ts'
import { texts } from '../texts.ts'

/** Leads to the description of the API, which is on another port where administration has one of its own. */
export function ReferenceLink() {
  const { data = [] } = useResource<Setting[]>('/admin/settings')
  const valueOf = (name: string) => data.find(setting => setting.name === name)?.value
  const isApart = valueOf('ADMIN_PORT') !== undefined
  const shared = `${location.protocol}//${location.hostname}:${valueOf('PORT')}`
  const origin = isApart ? (valueOf('PUBLIC_URL') ?? shared) : ''
  return (
    <a href={`${origin}/api/docs`} target="_blank" rel="noreferrer">
      <Icon name="reference" />
      {texts.reference}
    </a>
  )
}
