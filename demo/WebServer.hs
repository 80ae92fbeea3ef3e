{-# LANGUAGE BangPatterns #-}
-- A web server without the web: clients put requests on a queue, a pool of workers answers them out of a
-- cache, a small pool of database connections and some computing. It runs through a few phases, each with a marker.
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Bits
import Data.IORef
import qualified Data.Map.Strict as M
import Debug.Trace (traceEventIO, traceMarkerIO)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (labelThread)
import System.IO
import System.IO.Unsafe (unsafeInterleaveIO)
import System.Mem (performMajorGC)
import Text.Printf (printf)

-- Threads and time ------------------------------------------------------------------------------------------------

-- | Every thread has a name.
spawn :: String -> IO () -> IO ThreadId
spawn name act = forkIO $ do
  me <- myThreadId
  labelThread me name
  act

millis :: Int -> IO ()
millis = threadDelay . (* 1000)

nowMs :: IO Double
nowMs = (\t -> fromIntegral t / 1e6) <$> getMonotonicTimeNSec

-- | A small random number generator, the same in every run.
type Rng = IORef Word
roll :: Rng -> Int -> IO Int
roll r n = do
  x <- readIORef r
  let !y = x * 6364136223846793005 + 1442695040888963407
  writeIORef r y
  return (fromIntegral ((y `shiftR` 33) `mod` fromIntegral n))

-- The server ------------------------------------------------------------------------------------------------------

data Route = Home | Item Int | Search String | Report deriving Eq
instance Show Route where
  show Home = "GET /"
  show (Item n) = "GET /item/" ++ show n
  show (Search s) = "GET /search?q=" ++ s
  show Report = "GET /report"

data Request = Request { reqId :: !Int, reqRoute :: Route, reqSent :: !Double, reqReply :: MVar Int }

data Cancelled = Cancelled deriving Show
instance Exception Cancelled

data Server = Server
  { requests :: Chan Request
  , queued   :: TVar Int
  , dbQueue  :: TBQueue (Int, MVar [Int])
  , accessLog :: TQueue String
  , cache    :: MVar (M.Map Int [Int])
  , summary  :: TVar Integer                        -- a lazy value: whoever needs it first computes it
  , inFlight :: TVar (M.Map Int (Double, ThreadId))
  , served, misses, cancelled, activeClients, thinkUs :: TVar Int
  , reportShare :: TVar Int                         -- reports in a thousand requests
  }

page :: Int -> [Int] -> Int
page salt = go salt
  where go !acc [] = acc
        go !acc (x : xs) = go ((acc * 31 + x) .&. 0xffffff) xs
{-# NOINLINE page #-}

render :: Int -> [Int] -> Int
render k row = sum [ page (k + i) (concatMap (\x -> [x, x `xor` i, x + i]) row) | i <- [1 .. 220] ]

-- | A cached item, or a row from the database, which is then cached.
lookupItem :: Server -> Int -> IO [Int]
lookupItem sv k = do
  m <- readMVar (cache sv)
  case M.lookup k m of
    Just row -> return row
    Nothing -> do
      atomically (modifyTVar' (misses sv) (+ 1))
      box <- newEmptyMVar
      atomically (writeTBQueue (dbQueue sv) (k, box))
      row <- takeMVar box
      modifyMVar_ (cache sv) (evaluate . M.insert k row)
      return row

handler :: Server -> Route -> IO Int
handler sv r = case r of
  Home -> evaluate (render 1 [1 .. 60])
  Item k -> lookupItem sv k >>= evaluate . render k
  Search q -> do
    m <- readMVar (cache sv)
    let hits = [ k | (k, row) <- M.toList m, (sum (take 12 row) + length q) .&. 7 == 0 ]
    evaluate (render (length q) (take 200 hits))
  Report -> do
    s <- readTVarIO (summary sv)
    m <- readMVar (cache sv)
    n <- evaluate (fromInteger (s `mod` 1000))
    let totals = M.fromListWith (+) [ (x `mod` 997, x) | row <- M.elems m, x <- take 24 row ]
    evaluate (M.foldl' (+) n totals)

worker :: Server -> Int -> IO ()
worker sv n = mask $ \restore -> forever (step restore `catch` \Cancelled -> return ())
  where
    step restore = do
      rq <- readChan (requests sv)
      me <- myThreadId
      t0 <- nowMs
      atomically (modifyTVar' (queued sv) (subtract 1) >> modifyTVar' (inFlight sv) (M.insert (reqId rq) (t0, me)))
      r <- try (restore (handler sv (reqRoute rq)))
      atomically (modifyTVar' (inFlight sv) (M.delete (reqId rq)))
      t1 <- nowMs
      case r of
        Right v -> do
          when (t1 - reqSent rq > 60) $
            traceEventIO (printf "slow: #%d %s took %.0f ms (%.0f ms in the queue), worker-%d" (reqId rq) (show (reqRoute rq)) (t1 - reqSent rq) (t0 - reqSent rq) n)
          putMVar (reqReply rq) v
        Left Cancelled -> do
          traceEventIO (printf "timeout: #%d %s cancelled after %.0f ms" (reqId rq) (show (reqRoute rq)) (t1 - t0))
          atomically (modifyTVar' (cancelled sv) (+ 1))
          putMVar (reqReply rq) (-1)
      atomically $ do
        modifyTVar' (served sv) (+ 1)
        writeTQueue (accessLog sv) (printf "%d %s %.1f\n" (reqId rq) (show (reqRoute rq)) (t1 - reqSent rq))

-- | A connection answers one query at a time, after a wait that stands for disk and network.
dbConnection :: Server -> Rng -> IO ()
dbConnection sv rng = forever $ do
  (k, box) <- atomically (readTBQueue (dbQueue sv))
  us <- roll rng 2500
  threadDelay (800 + us)
  row <- evaluate (let xs = take 160 (iterate (\x -> (x * 1103515245 + 12345) .&. 0x7fffffff) k) in sum xs `seq` xs)
  putMVar box row

logWriter :: Server -> Handle -> IO ()
logWriter sv h = forever $ do
  l <- atomically (readTQueue (accessLog sv))
  ls <- atomically (flushTQueue (accessLog sv))
  hPutStr h (concat (l : ls))
  hFlush h
  millis 8

watchdog :: Server -> IO ()
watchdog sv = forever $ do
  millis 10
  t <- nowMs
  late <- M.elems . M.filter ((< t - 75) . fst) <$> readTVarIO (inFlight sv)
  mapM_ (\(_, tid) -> throwTo tid Cancelled) late

metrics :: Server -> IO ()
metrics sv = forever $ do
  millis 50
  (q, f, s, m) <- atomically $ (,,,) <$> readTVar (queued sv) <*> (M.size <$> readTVar (inFlight sv)) <*> readTVar (served sv) <*> readTVar (misses sv)
  c <- M.size <$> readMVar (cache sv)
  traceEventIO (printf "metrics: %d queued, %d in flight, %d served, %d cache misses, %d items cached" q f s m c)

-- | Keeps the cache warm with new items, in bursts: pressure on the collector.
cacheWarmer :: Server -> Rng -> IO ()
cacheWarmer sv rng = forever $ do
  millis 30
  n <- roll rng 400
  rows <- forM [1 .. 60 + n] $ \_ -> do
    k <- roll rng 6000
    let row = [k .. k + 90]
    _ <- evaluate (sum row)
    return (k, row)
  modifyMVar_ (cache sv) (evaluate . M.union (M.fromList rows))

client :: Server -> IORef Int -> Rng -> Int -> IO ()
client sv ids rng n = forever $ do
  atomically (readTVar (activeClients sv) >>= check . (>= n))
  d <- roll rng 10
  share <- readTVarIO (reportShare sv)
  x <- roll rng 1000
  k <- roll rng 3000
  let route | x < share = Report
            | d < 3 = Home
            | d < 9 = Item k
            | otherwise = Search (take (4 + k `mod` 7) "functional programming")
  i <- atomicModifyIORef' ids (\a -> (a + 1, a))
  box <- newEmptyMVar
  t <- nowMs
  atomically (modifyTVar' (queued sv) (+ 1))
  writeChan (requests sv) (Request i route t box)
  _ <- takeMVar box
  think <- readTVarIO (thinkUs sv)
  us <- roll rng (2 * think)
  threadDelay us

-- Phases ----------------------------------------------------------------------------------------------------------

freshSummary :: Int -> IO Integer
freshSummary n = unsafeInterleaveIO (evaluate (sum [ product [toInteger i .. toInteger i + 60] `mod` 1000003 | i <- [n .. n + 4000] ]))

main :: IO ()
main = do
  me <- myThreadId
  labelThread me "main (phases)"
  traceMarkerIO "start-up"
  sum0 <- freshSummary 1
  sv <- Server <$> newChan <*> newTVarIO 0 <*> newTBQueueIO 32 <*> newTQueueIO <*> newMVar M.empty <*> newTVarIO sum0 <*> newTVarIO M.empty
               <*> newTVarIO 0 <*> newTVarIO 0 <*> newTVarIO 0 <*> newTVarIO 0 <*> newTVarIO 8000 <*> newTVarIO 0
  ids <- newIORef 1
  seeds <- newIORef (20240229 :: Word)
  let rng = atomicModifyIORef' seeds (\s -> (s * 2862933555777941757 + 3037000493, s)) >>= newIORef
  h <- openFile "/dev/null" WriteMode
  background <- sequence
    [ spawn "access-log" (logWriter sv h)
    , spawn "metrics" (metrics sv)
    , spawn "watchdog" (watchdog sv)
    , rng >>= spawn "cache-warmer" . cacheWarmer sv ]
  dbs <- forM [1 .. 3 :: Int] $ \i -> rng >>= spawn ("db-connection-" ++ show i) . dbConnection sv
  ws <- forM [1 .. 8] $ \i -> spawn ("worker-" ++ show i) (worker sv i)
  cs <- forM [1 .. 24] $ \i -> do { r <- rng; spawn (printf "client-%02d" i) (client sv ids r i) }

  let phase name ms clients think share = do
        traceMarkerIO name
        traceEventIO ("START " ++ name)
        atomically (writeTVar (activeClients sv) clients >> writeTVar (thinkUs sv) think >> writeTVar (reportShare sv) share)
        millis ms
        traceEventIO ("STOP " ++ name)

  phase "warm-up" 350 5 6000 0
  phase "load test" 650 24 6000 6

  traceMarkerIO "cache flush"
  traceEventIO "START cache flush"
  modifyMVar_ (cache sv) (const (return M.empty))
  freshSummary 7 >>= atomically . writeTVar (summary sv)
  performMajorGC
  traceEventIO "STOP cache flush"

  phase "recovery" 350 16 4500 0
  phase "report storm" 400 20 6000 80
  phase "cool-down" 200 6 9000 0

  traceMarkerIO "shutdown"
  atomically (writeTVar (activeClients sv) 0)
  millis 60
  mapM_ killThread (cs ++ ws ++ dbs ++ background)
  n <- readTVarIO (served sv)
  c <- readTVarIO (cancelled sv)
  traceEventIO (printf "served %d requests, %d cancelled" n c)
  hClose h
  printf "served %d requests, %d cancelled\n" n c
