import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import './app/global.css';
import { App } from './app/app.tsx';
import { loadProblemTexts } from './problems/message.ts';

// Libraries that create style elements read the CSP nonce from here.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
Object.assign(globalThis, { __webpack_nonce__: nonce });

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App nonce={nonce} />);
void loadProblemTexts();
