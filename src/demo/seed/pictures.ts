import sharp from 'sharp'

const table = `<rect width="1200" height="750" fill="#e9e2d6"/><rect y="560" width="1200" height="190" fill="#d5c7b2"/>
<ellipse cx="600" cy="628" rx="420" ry="26" fill="#000" opacity=".12"/>
<path d="M300 330l-40 300h34l58-300zM900 330l40 300h-34l-58-300z" fill="#7c5230"/>
<rect x="190" y="292" width="820" height="44" rx="10" fill="#a4713f"/><rect x="190" y="292" width="820" height="14" rx="7" fill="#bd8951"/>
<rect x="320" y="336" width="560" height="30" fill="#8a5c33"/><path d="M560 292v-70q40-46 80 0v70z" fill="#47685a"/>
<path d="M600 220c-20-70-70-80-90-90M600 220c16-80 60-90 86-108M600 225c-2-90 8-120 4-150" stroke="#3c6b4a" stroke-width="9" fill="none"/>
<circle cx="506" cy="126" r="17" fill="#e0a23f"/><circle cx="690" cy="108" r="17" fill="#d9793f"/><circle cx="604" cy="70" r="19" fill="#e0a23f"/>`

const workshop = `<rect width="1200" height="750" fill="#23303b"/><rect y="610" width="1200" height="140" fill="#36434e"/>
<rect x="150" y="210" width="900" height="420" fill="#2f4a43"/><rect x="150" y="150" width="900" height="90" rx="6" fill="#16201d"/>
<text x="600" y="214" text-anchor="middle" font-family="Georgia, serif" font-size="58" fill="#d9b262" letter-spacing="6">HEARTH &amp; PINE</text>
<rect x="210" y="280" width="330" height="270" fill="#f6d58e"/><rect x="640" y="280" width="150" height="350" fill="#1d2f2a"/><rect x="655" y="300" width="120" height="180" fill="#f6d58e"/>
<rect x="850" y="280" width="150" height="270" fill="#f6d58e"/><path d="M260 550v-110h230v110h-18v-78H278v78z" fill="#7c5230"/>
<path d="M375 280v270M210 400h330M925 280v270" stroke="#2f4a43" stroke-width="10"/><circle cx="760" cy="520" r="8" fill="#d9b262"/>
<path d="M60 630c30-130 70-130 100 0zM1050 630c20-100 70-100 90 0z" fill="#3f6b53"/>`

const forest = `<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#f4c998"/><stop offset="1" stop-color="#f6efe2"/></linearGradient></defs>
<rect width="1200" height="750" fill="url(#s)"/><circle cx="850" cy="230" r="80" fill="#fff4d6"/>
<path d="M0 430q200-120 420-40t420-50 360 60v350H0z" fill="#a9b89c"/><path d="M0 520q260-110 520-30t680-60v320H0z" fill="#6f8c70"/>
<path d="M0 640q300-80 640-30t560-30v170H0z" fill="#3e5f4a"/>
${[90, 210, 330, 980, 1090].map((x, i) => `<path d="M${x} ${300 + i * 12}l70 190h-38l52 140H${x - 84}l52-140h-38z" fill="#29473a"/><rect x="${x - 9}" y="${620 + i * 6}" width="18" height="70" fill="#4c3626"/>`).join('')}`

const drawings = { table, workshop, forest }

/** A picture of the demo as PNG. */
export function draw(name: keyof typeof drawings): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 750" width="1200" height="750">${drawings[name]}</svg>`
  return sharp(Buffer.from(svg)).png({ palette: true, quality: 90 }).toBuffer()
}
