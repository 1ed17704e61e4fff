import { useEffect, useState } from 'react'

const query = new URLSearchParams(location.search)

/** What a developer turns to see whether a theme holds: direction, size of text, colours, accent. */
export function Knobs() {
  const [direction, setDirection] = useState(query.get('direction') ?? 'ltr')
  const [size, setSize] = useState(query.get('size') ?? '100')
  const [scheme, setScheme] = useState(query.get('scheme') ?? 'light dark')
  const [accent, setAccent] = useState('')
  useEffect(() => {
    const root = document.documentElement
    root.dir = direction
    root.style.fontSize = `${size}%`
    root.style.colorScheme = scheme
    if (accent !== '') root.style.setProperty('--pl-accent', accent)
  }, [direction, size, scheme, accent])
  return (
    <>
      <Choice label="Direction" value={direction} onChange={setDirection} of={['ltr', 'rtl']} />
      <Choice label="Size" value={size} onChange={setSize} of={['100', '150', '200']} />
      <Choice label="Colours" value={scheme} onChange={setScheme} of={['light dark', 'light', 'dark']} />
      <label>
        Accent <input type="color" value={accent || '#2f6b4f'} onChange={event => setAccent(event.target.value)} />
      </label>
    </>
  )
}

interface ChoiceProps {
  label: string
  value: string
  onChange: (value: string) => void
  of: readonly string[]
}

function Choice({ label, value, onChange, of }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={event => onChange(event.target.value)}>
        {of.map(one => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  )
}
