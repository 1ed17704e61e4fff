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
        <a href="/kit">In the UI kit</a>
      </header>
      <ol className="hints">
        <li>Write to Ben as Ada, and watch typing, unread marks and the message arrive beside it.</li>
        <li>Open “Front desk”: an agent asks for your approval before it books a room.</li>
        <li>Vote in News, and comment on a drawing in Documents.</li>
      </ol>
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
