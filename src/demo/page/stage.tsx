import { StrictMode, useEffect, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'

const wide = matchMedia('(width >= 64rem)')

const onWide = (listener: () => void) => {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Two people side by side, or on a phone one. */
function Stage() {
  const isWide = useSyncExternalStore(onWide, () => wide.matches)
  const [scheme, setScheme] = useState(localStorage.getItem('scheme') ?? 'light dark')
  useEffect(() => {
    localStorage.setItem('scheme', scheme)
    document.documentElement.style.colorScheme = scheme
    for (const frame of document.querySelectorAll('iframe')) frame.contentWindow?.postMessage({ scheme })
  }, [scheme])
  return (
    <div className="stage">
      <header className="bar">
        <h1>
          Hearth &amp; Pine <small>a demo of Parley</small>
        </h1>
        <label>
          Colours{' '}
          <select value={scheme} onChange={event => setScheme(event.target.value)}>
            <option value="light dark">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <a href="/parts">All parts</a>
        <a href="/kit">In the UI kit</a>
      </header>
      <details className="hints" open={isWide}>
        <summary>What to try</summary>
        <ol>
          <li>Write to Ben as Ada: typing, unread marks and the message arrive beside it. Vote in News.</li>
          <li>Approve what “Front desk” asks for: an agent books a room only with your approval.</li>
          <li>Ask “Assistant” about delivery or the warranty: it quotes the files that you see in Documents.</li>
        </ol>
      </details>
      <div className="people">
        <iframe src="/workspace?user=ada" title="Ada Park" />
        {isWide && <iframe src="/workspace?user=ben" title="Ben Ruiz" />}
      </div>
    </div>
  )
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Stage />
  </StrictMode>,
)
