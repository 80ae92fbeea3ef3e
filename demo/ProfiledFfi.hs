{-# LANGUAGE BangPatterns, ForeignFunctionInterface #-}
-- A small image pipeline: scenes are ray-traced in Haskell, filtered by safe calls to C, and compressed in Haskell
-- again. Built with profiling; each foreign call is announced with its cost-centre stack and its OS thread:
--   START n name, ANN_SCC n name [stack], ANN_TH n name tid, (the call), STOP n name
-- A cost-centre sample can only ever see the Haskell side; with these messages the foreign side is seen as well.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.Char (isAlphaNum, isSpace)
import Data.IORef
import qualified Data.Map.Strict as M
import Data.Word
import Debug.Trace (traceEventIO, traceMarkerIO)
import Foreign
import Foreign.ForeignPtr.Unsafe (unsafeForeignPtrToPtr)
import Foreign.C.Types
import GHC.Conc (labelThread)
import GHC.Stack.CCS (ccsToStrings, getCurrentCCS)
import System.IO.Unsafe (unsafePerformIO)
import Text.Printf (printf)

foreign import ccall unsafe "os_thread_id" c_os_thread_id :: IO CInt
foreign import ccall safe "box_blur" c_box_blur :: Ptr Word8 -> Ptr Word8 -> CInt -> CInt -> CInt -> IO ()
foreign import ccall safe "sobel_edges" c_sobel_edges :: Ptr Word8 -> Ptr Word8 -> CInt -> CInt -> CInt -> IO ()
foreign import ccall safe "median_filter" c_median_filter :: Ptr Word8 -> Ptr Word8 -> CInt -> CInt -> IO ()

-- Announced foreign calls -----------------------------------------------------------------------------------------

{-# NOINLINE callCounter #-}
callCounter :: IORef Int
callCounter = unsafePerformIO (newIORef 0)

-- | The caller must be a bound thread (forkOS, main): only then is the thread that asks for its number the thread
-- that will run the call.
announced :: String -> IO a -> IO a
announced name call = do
  n <- atomicModifyIORef' callCounter (\c -> (c + 1, c))
  tid <- c_os_thread_id
  stack <- getCurrentCCS () >>= ccsToStrings
  let say what rest = traceEventIO (what ++ " " ++ show n ++ " " ++ name ++ rest)
  say "START" ""
  say "ANN_SCC" (' ' : show stack)
  say "ANN_TH" (' ' : show tid)
  r <- call
  say "STOP" ""
  return r

-- Scenes: a little language, a parser, a ray tracer ---------------------------------------------------------------

data Shape = Sphere !Double !Double !Double !Double | Floor !Double

tokens :: String -> [String]
tokens [] = []
tokens s@(c : cs)
  | isSpace c = tokens cs
  | isAlphaNum c || c == '-' = let (w, r) = span (\k -> isAlphaNum k || k `elem` "-.") s in w : tokens r
  | otherwise = [c] : tokens cs

parseScene :: String -> [Shape]
parseScene = statements . tokens
  where
    statements ("sphere" : x : y : z : r : rest) = Sphere (read x) (read y) (read z) (read r) : statements rest
    statements ("floor" : y : rest) = Floor (read y) : statements rest
    statements (_ : rest) = statements rest
    statements [] = []

sceneText :: Int -> String
sceneText k = "floor -1.0; " ++ concat
  [ printf "sphere %.2f %.2f %.2f %.2f; " (1.6 * sin a) (0.5 * cos (2 * a) :: Double) (3.5 + cos a) (0.35 + 0.08 * fromIntegral (i `mod` 4) :: Double)
  | i <- [0 .. 11 :: Int], let a = fromIntegral (i * 7 + k) * 0.37 :: Double ]

hit :: Double -> Double -> Shape -> Maybe (Double, Double)
hit dx dy (Sphere cx cy cz r) =
  let l2 = dx * dx + dy * dy + 1
      b = (dx * cx + dy * cy + cz) / l2
      c = (cx * cx + cy * cy + cz * cz - r * r) / l2
      disc = b * b - c
  in if disc < 0 then Nothing
     else let t = b - sqrt disc
          in if t > 0 then Just (t, shadeSphere (dx * t - cx) (dy * t - cy) (t - cz) r) else Nothing
hit _ dy (Floor y)
  | dy < -0.001 = let t = y / dy in Just (t, max 0 (0.7 - 0.06 * t))
  | otherwise = Nothing

shadeSphere :: Double -> Double -> Double -> Double -> Double
shadeSphere nx ny nz r = max 0.08 ((0.4 * nx + 0.7 * ny - 0.6 * nz) / r)

tracePixel :: [Shape] -> Int -> Int -> Int -> Int -> Word8
tracePixel scene w h x y =
  let dx = (fromIntegral x * 2 - fromIntegral w) / fromIntegral w
      dy = (fromIntegral h - fromIntegral y * 2) / fromIntegral w
      nearest = foldr closer (1e9, 0.15 + 0.2 * dy) [ q | Just q <- map (hit dx dy) scene ]
      closer a b = if fst a < fst b then a else b
  in truncate (255 * max 0 (min 1 (snd nearest)))

renderScene :: Int -> Int -> [Shape] -> IO (ForeignPtr Word8)
renderScene w h scene = do
  fp <- mallocForeignPtrBytes (w * h)
  let p = unsafeForeignPtrToPtr fp
      row y = forM_ [0 .. w - 1] (pixel y)
      pixel y x = pokeElemOff p (y * w + x) (tracePixel scene w h x y)
  forM_ [0 .. h - 1] row
  touchForeignPtr fp
  return fp

-- Filters: the foreign side ---------------------------------------------------------------------------------------

onImage :: Int -> Int -> (Ptr Word8 -> Ptr Word8 -> IO ()) -> ForeignPtr Word8 -> IO (ForeignPtr Word8)
onImage w h f src = do
  dst <- mallocForeignPtrBytes (w * h)
  f (unsafeForeignPtrToPtr src) (unsafeForeignPtrToPtr dst)
  touchForeignPtr src
  touchForeignPtr dst
  return dst

blur, edges, denoise :: Int -> Int -> ForeignPtr Word8 -> IO (ForeignPtr Word8)
blur w h = onImage w h call
  where call s d = announced "box_blur" (c_box_blur s d (fromIntegral w) (fromIntegral h) 10)
edges w h = onImage w h call
  where call s d = announced "sobel_edges" (c_sobel_edges s d (fromIntegral w) (fromIntegral h) 40)
denoise w h = onImage w h call
  where call s d = announced "median_filter" (c_median_filter s d (fromIntegral w) (fromIntegral h))

-- Compression: run lengths, then a Huffman code -------------------------------------------------------------------

runLengths :: [Word8] -> [(Word8, Int)]
runLengths [] = []
runLengths (x : xs) = go x 1 xs
  where go c !n (y : ys) | y == c && n < 255 = go c (n + 1) ys
        go c n ys = (c, n) : runLengths ys

data Tree = Leaf !Int (Word8, Int) | Node !Int Tree Tree
weight :: Tree -> Int
weight (Leaf n _) = n
weight (Node n _ _) = n

huffmanTree :: [(Word8, Int)] -> Tree
huffmanTree syms = build (M.fromListWith (++) [ (n, [Leaf n s]) | (s, n) <- M.toList (M.fromListWith (+) [ (s, 1) | s <- syms ]) ])
  where
    build q = case takeMin q of
      Nothing -> Leaf 0 (0, 0)
      Just (a, q1) -> case takeMin q1 of
        Nothing -> a
        Just (b, q2) -> let n = weight a + weight b in build (M.insertWith (++) n [Node n a b] q2)
    takeMin q = case M.minViewWithKey q of
      Nothing -> Nothing
      Just ((_, [t]), r) -> Just (t, r)
      Just ((k, t : ts), r) -> Just (t, M.insert k ts r)
      Just ((_, []), r) -> takeMin r

codeLengths :: Tree -> M.Map (Word8, Int) Int
codeLengths t = M.fromList (walk 0 t)
  where walk !d (Leaf _ s) = [(s, max 1 d)]
        walk d (Node _ a b) = walk (d + 1) a ++ walk (d + 1) b

compress :: Int -> Int -> ForeignPtr Word8 -> IO Int
compress w h fp = do
  px <- withForeignPtr fp (peekArray (w * h))
  let runs = runLengths px
      table = codeLengths (huffmanTree runs)
  evaluate (sum [ M.findWithDefault 16 r table | r <- runs ])

-- The pipeline ----------------------------------------------------------------------------------------------------

frame :: Int -> Int -> Int -> IO Int
frame w h k = do
  img <- renderScene w h (parseScene (sceneText k))
  out <- case k `mod` 3 of
    0 -> blur w h img >>= edges w h
    1 -> denoise w h img
    _ -> denoise w h img >>= blur w h
  compress w h out

-- | Takes frames until there are no more. A bound thread, with an OS thread of its own.
filterWorker :: Int -> MVar [Int] -> Chan (Int, Int) -> MVar () -> IO ()
filterWorker i todo results done = do
  me <- myThreadId
  labelThread me ("filter-worker-" ++ show i)
  let loop = do
        job <- modifyMVar todo (\ks -> return (drop 1 ks, take 1 ks))
        case job of
          [] -> return ()
          k : _ -> frame 300 200 k >>= \bits -> writeChan results (k, bits) >> loop
  loop
  putMVar done ()

collector :: Int -> Chan (Int, Int) -> MVar Int -> IO ()
collector n results total = do
  me <- myThreadId
  labelThread me "collector"
  sizes <- forM [1 .. n] $ \i -> do
    (k, bits) <- readChan results
    traceEventIO (printf "frame %d: %d bytes (%d of %d)" k (bits `div` 8) i n)
    return bits
  putMVar total $! sum sizes

animate :: String -> Int -> [Int] -> IO ()
animate name workers frames = do
  traceMarkerIO name
  todo <- newMVar frames
  results <- newChan
  total <- newEmptyMVar
  _ <- forkIO (collector (length frames) results total)
  let start i = do
        d <- newEmptyMVar
        _ <- forkOS (filterWorker i todo results d)
        return d
  dones <- forM [1 .. workers] start
  mapM_ takeMVar dones
  bits <- takeMVar total
  traceEventIO (printf "%s: %d frames, %d KiB" name (length frames) (bits `div` 8192))

main :: IO ()
main = do
  me <- myThreadId
  labelThread me "main"
  animate "preview, one worker" 1 [1 .. 3]
  animate "animation, three workers" 3 [4 .. 19]
  traceMarkerIO "end"
